import type { Choices } from '../choices.js'
import type { WrittenModels } from '../models.js'

/** What the files of an application are made of. */
export interface Plan extends Choices {
  readonly written: WrittenModels
  /** Ranges of the packages that an application may need, by name. */
  readonly versions: Versions
}

export type Versions = Readonly<Record<string, string>>

/** A text that only TypeScript has. */
export type Typed = (text: string) => string

export function typedBy({ language }: Choices): Typed {
  return (text) => (language === 'typescript' ? text : '')
}

export function extension({ language }: Choices): 'ts' | 'js' {
  return language === 'typescript' ? 'ts' : 'js'
}

/** Lines, of which some are left out: `false` is a line that this application lacks. */
export function lines(...all: readonly (string | false)[]): string {
  return `${all.filter((line) => line !== false).join('\n')}\n`
}

/** An import, in the order of its names. */
export function importing(names: readonly string[], from: string): string {
  const order = (name: string): string => name.replace('type ', '').toLowerCase()
  const all = names.toSorted((a, b) => (order(a) < order(b) ? -1 : 1))
  const line = `import { ${all.join(', ')} } from '${from}'`
  return line.length <= 115 ? line : `import {\n${all.map((name) => `  ${name},\n`).join('')}} from '${from}'`
}
