import type { Choices } from '../choices.js'
import type { WrittenModels } from '../models.js'

/** Input for the files of an application. */
export interface Plan extends Choices {
  readonly written: WrittenModels
  /** Version ranges of possible dependencies, by package name. */
  readonly versions: Versions
}

export type Versions = Readonly<Record<string, string>>

/** Returns the text for TypeScript, and an empty text for JavaScript. */
export type ForTypeScript = (text: string) => string

export function createForTypeScript({ language }: Choices): ForTypeScript {
  return (text) => (language === 'typescript' ? text : '')
}

export function extensionOf({ language }: Choices): 'ts' | 'js' {
  return language === 'typescript' ? 'ts' : 'js'
}

/** Joins lines and omits those that are `false`. */
export function joinLines(...all: readonly (string | false)[]): string {
  return `${all.filter((line) => line !== false).join('\n')}\n`
}

/** An import statement with sorted names. */
export function writeImport(names: readonly string[], from: string): string {
  const sortKey = (name: string): string => name.replace('type ', '').toLowerCase()
  const all = names.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))
  const line = `import { ${all.join(', ')} } from '${from}'`
  return line.length <= 115 ? line : `import {\n${all.map((name) => `  ${name},\n`).join('')}} from '${from}'`
}
