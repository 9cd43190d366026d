import type { Choices } from '../choices.js'
import type { WrittenModels } from '../models.js'

/** Input for writing the files of an application. */
export interface Plan extends Choices {
  readonly written: WrittenModels
  /** Version ranges of possible dependencies, by package name. */
  readonly versions: Versions
}

export type Versions = Readonly<Record<string, string>>

/** Returns its argument for a TypeScript application, and an empty text for JavaScript. */
export type ForTypeScript = (text: string) => string

export function createForTypeScript({ language }: Choices): ForTypeScript {
  return (text) => (language === 'typescript' ? text : '')
}

export function extensionOf({ language }: Choices): 'ts' | 'js' {
  return language === 'typescript' ? 'ts' : 'js'
}

/** Joins lines. Lines that are `false` are left out. */
export function joinLines(...all: readonly (string | false)[]): string {
  return `${all.filter((line) => line !== false).join('\n')}\n`
}

/** Writes an import statement with sorted names. */
export function writeImport(names: readonly string[], from: string): string {
  const sortKey = (name: string): string => name.replace('type ', '').toLowerCase()
  const all = names.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))
  const line = `import { ${all.join(', ')} } from '${from}'`
  return line.length <= 115 ? line : `import {\n${all.map((name) => `  ${name},\n`).join('')}} from '${from}'`
}
