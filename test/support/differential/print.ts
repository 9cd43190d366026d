// Writes conditions in the filter language. The printer varies details that have no effect: the case of names, blanks,
// parentheses, unnecessary escapes, and the form of quantifiers.

import { operatorInfoOf } from '../../../lib/language/operators.js'
import type { Operator } from '../../../types/query.js'
import { TOKENS } from '../operators.js'
import type { Compare, Condition, Count, Elements } from './condition.js'
import type { Operand } from './operands.js'
import { below, pick, type Random } from './random.js'
import type { Relation } from './schema.js'

export function printFilter(condition: Condition, random: Random): string {
  return new Printer(random).print(condition)
}

/** Writes a name in random case. */
export function printName(name: string, random: Random): string {
  return pick(random, [name, name, name.charAt(0).toUpperCase() + name.slice(1), name.toUpperCase()])
}

export function printPath(names: readonly string[], random: Random): string {
  return names.map((name) => printName(name, random)).join('.')
}

class Printer {
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  print(condition: Condition, prefix = ''): string {
    switch (condition.kind) {
      case 'and':
      case 'or':
        return condition.nodes
          .map((node) => this.#child(condition.kind, node))
          .join(this.#padded(condition.kind === 'and' ? ',' : '|'))
      case 'compare':
        return this.#compare(condition, prefix)
      case 'absent':
        return `${this.#path(prefix, condition.relations)}${condition.negated ? '!=' : '='}null`
      case 'elements':
        return this.#elements(condition, prefix)
      case 'count':
        return this.#count(condition, prefix)
    }
  }

  /** Adds parentheses where necessary, because `,` binds tighter than `|`. */
  #child(kind: 'and' | 'or', node: Condition): string {
    const text = this.print(node)
    const isNeeded = kind === 'and' && node.kind === 'or'
    return isNeeded || this.#chance(8) ? `(${this.#blank()}${text})` : text
  }

  #compare({ relations, column, operator, operands, ignoreCase }: Compare, prefix: string): string {
    const path = this.#path(prefix, relations, column.name)
    const isList = operatorInfoOf(operator).list
    const values = operands.map((operand) => this.#operand(operator, operand, isList)).join(this.#padded(';'))
    return `${path}${this.#padded(this.#token(operator))}${values}${ignoreCase ? '/i' : ''}`
  }

  #token(operator: Operator): string {
    return this.#chance(4) ? TOKENS[operator].toUpperCase() : TOKENS[operator]
  }

  #operand(operator: Operator, operand: Operand, isList: boolean): string {
    return operand.kind === 'null' ? 'null' : this.#escaped(operator, operand.text, isList)
  }

  #escaped(operator: Operator, text: string, isList: boolean): string {
    const characters = [...text]
    const first = characters.findIndex((character) => !/[ \t\r\n]/.test(character))
    const last = characters.findLastIndex((character) => !/[ \t\r\n]/.test(character))
    const isAmbiguous =
      (text === 'null' && ['eq', 'ne', 'in', 'notIn'].includes(operator)) ||
      (operator === 'eq' && /^(?:\*|in=|out=)/i.test(text))
    return characters
      .map((character, index) => {
        const isNeeded =
          /[\\,|()]/.test(character) ||
          (isList && character === ';') ||
          (index === 0 && (isAmbiguous || /[=<>]/.test(character))) ||
          first < 0 ||
          index < first ||
          index > last ||
          (character === '/' && /^i$/i.test(characters[index + 1] ?? ''))
        return isNeeded || this.#chance(20) ? `\\${character}` : character
      })
      .join('')
  }

  #elements({ quantifier, relations, collection, condition }: Elements, prefix: string): string {
    const path = this.#path(prefix, [...relations, collection])
    const word = printName(quantifier, this.#random)
    const isGroup = condition.kind === 'and' || condition.kind === 'or' || this.#chance(3)
    if (isGroup) return `${path}.${word}${this.#group(condition)}`
    const start = quantifier === 'any' && this.#chance(2) ? path : `${path}.${word}`
    return this.print(condition, `${start}.`)
  }

  #count({ relations, collection, condition, operator, numbers }: Count, prefix: string): string {
    const path = `${this.#path(prefix, [...relations, collection])}.${printName('count', this.#random)}`
    const group = condition === null ? '' : this.#group(condition)
    return `${path}${group}${this.#padded(this.#token(operator))}${numbers.join(this.#padded(';'))}`
  }

  #group(condition: Condition): string {
    return `${this.#blank()}(${this.#blank()}${this.print(condition)}${this.#blank()})`
  }

  #path(prefix: string, relations: readonly Relation[], ...names: readonly string[]): string {
    return prefix + printPath([...relations.map(({ name }) => name), ...names], this.#random)
  }

  #padded(token: string): string {
    return this.#blank() + token + this.#blank()
  }

  #blank(): string {
    return this.#chance(10) ? pick(this.#random, [' ', '  ', '\t']) : ''
  }

  /** Returns true with a probability of 1 / times. */
  #chance(times: number): boolean {
    return below(this.#random, times) === 0
  }
}
