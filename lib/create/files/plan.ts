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
export type Typed = (text: string) => string

export function typedBy({ language }: Choices): Typed {
  return (text) => (language === 'typescript' ? text : '')
}

export function extension({ language }: Choices): 'ts' | 'js' {
  return language === 'typescript' ? 'ts' : 'js'
}

/** Joins lines and omits those that are `false`. */
export function lines(...all: readonly (string | false)[]): string {
  return `${all.filter((line) => line !== false).join('\n')}\n`
}

/** An import statement with sorted names. */
export function importing(names: readonly string[], from: string): string {
  const order = (name: string): string => name.replace('type ', '').toLowerCase()
  const all = names.toSorted((a, b) => (order(a) < order(b) ? -1 : 1))
  const line = `import { ${all.join(', ')} } from '${from}'`
  return line.length <= 115 ? line : `import {\n${all.map((name) => `  ${name},\n`).join('')}} from '${from}'`
}
