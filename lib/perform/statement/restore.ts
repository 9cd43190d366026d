import type { Field } from '../../../types/field.js'
import type { Column, Hop, OrderKey } from '../../../types/plan.js'
import type { RelationInfo } from '../../../types/relation.js'
import { ownColumn } from '../../common/columns.js'
import { POSITIVE } from '../../language/operators.js'
import type { ValueTraits } from '../../sequelize/dialect/index.js'
import { KEY_READINGS, type Outline, type OutlinePredicate, type Reading, type Slots } from './outline.js'
import type { Token } from './tokens.js'

/** Reads the outline of a request out of the tokens that `describe` has made of it. */
export function restore(tokens: readonly Token[]): Outline {
  return new Restorer(tokens).outline()
}

/** The same of a request that reads rows. */
export function restoreReading(tokens: readonly Token[]): Reading<Slots> {
  const outline = restore(tokens)
  if (outline.kind !== 'select') throw new TypeError(`a ${outline.kind} reads no rows`)
  return outline
}

const PLAIN: ValueTraits = { wide: false, long: false }

/** Each method reads what the one of its name in `describe` has written. */
class Restorer {
  readonly #tokens: readonly Token[]
  readonly #guards: OutlinePredicate[] = []
  #at = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  outline(): Outline {
    const kind = this.#word(['select', 'embed', 'count', 'aggregate', 'insert', 'update', 'delete'])
    switch (kind) {
      case 'select': {
        const [total, unscoped] = [this.#flag(), this.#flag()]
        const [deleted, lock] = [this.#flag(), this.#flag()]
        const keys = this.#word(KEY_READINGS)
        const where = this.#condition()
        return { kind, where, ...this.#reading(), window: this.#slots(), total, keys, unscoped, deleted, lock }
      }
      case 'embed': {
        const hop = this.#hop()
        const where = this.#condition()
        return { kind, hop, where, ...this.#reading(), window: this.#slots() }
      }
      case 'count': {
        const deleted = this.#flag()
        return { kind, where: this.#condition(), deleted }
      }
      case 'aggregate': {
        const [total, deleted] = [this.#flag(), this.#flag()]
        const where = this.#condition()
        const columns = this.#columns()
        const groups = this.#number()
        const having = this.#condition()
        const order = this.#times(() => this.#orderKey())
        return { kind, where, columns, groups, having, order, window: this.#slots(), total, deleted }
      }
      case 'insert': {
        const fields = this.#fields()
        const returning = this.#columns()
        return { kind, fields, returning, values: this.#slots() }
      }
      case 'update': {
        const [deleted, among] = [this.#flag(), this.#flag()]
        const fields = this.#fields()
        const increments = this.#fields()
        const where = this.#predicate()
        const returning = this.#columns()
        return { kind, deleted, among, fields, increments, where, returning, values: this.#slots() }
      }
      case 'delete':
        return { kind, where: this.#predicate() }
    }
  }

  #next(): Token {
    const token = this.#tokens[this.#at]
    if (token === undefined) throw new TypeError('a description of a statement ends too early')
    this.#at += 1
    return token
  }

  #word<W extends string>(words: readonly W[]): W {
    const token = this.#next()
    const word = words.find((each) => each === token)
    if (word === undefined) throw new TypeError(`a description of a statement has ${String(token)} out of place`)
    return word
  }

  #number(): number {
    const token = this.#next()
    if (typeof token !== 'number') throw new TypeError('a description of a statement lacks a number')
    return token
  }

  #flag(): boolean {
    return this.#number() === 1
  }

  #field(): Field {
    const token = this.#next()
    if (typeof token !== 'object' || 'association' in token) throw new TypeError('a description lacks a field')
    return token
  }

  #relation(): RelationInfo {
    const token = this.#next()
    if (typeof token !== 'object' || !('association' in token)) throw new TypeError('a description lacks a relation')
    return token
  }

  #times<T>(read: () => T): readonly T[] {
    return Array.from({ length: this.#number() }, read)
  }

  #fields(): readonly Field[] {
    return this.#times(() => this.#field())
  }

  #slots({ wide, long }: ValueTraits = PLAIN): Slots {
    const first = this.#number()
    return { first, count: this.#number(), wide, long }
  }

  #condition(): OutlinePredicate | null {
    if (this.#tokens[this.#at] !== 0) return this.#predicate()
    this.#at += 1
    return null
  }

  #predicate(): OutlinePredicate {
    return Restorer.#restored[this.#word(KINDS)](this)
  }

  static readonly #restored: Readonly<Record<OutlinePredicate['kind'], (self: Restorer) => OutlinePredicate>> = {
    and: (self) => ({ kind: 'and', nodes: self.#nodes() }),
    or: (self) => ({ kind: 'or', nodes: self.#nodes() }),
    compare: (self) => {
      const column = self.#column()
      const operator = self.#word(POSITIVE)
      const [negated, ignoreCase, asJoined] = [self.#flag(), self.#flag(), self.#flag()]
      const traits = { wide: self.#flag(), long: self.#flag() }
      const node = { kind: 'compare', column, operator, negated, ignoreCase, values: self.#slots(traits) } as const
      return asJoined ? { ...node, asJoined } : node
    },
    null: (self) => {
      const column = self.#column()
      return { kind: 'null', column, negated: self.#flag() }
    },
    absent: (self) => {
      const hops = self.#hops()
      return { kind: 'absent', hops, negated: self.#flag() }
    },
    never: () => ({ kind: 'never' }),
    always: () => ({ kind: 'always' }),
    quantified: (self) => {
      const quantifier = self.#word(['any', 'all', 'none'])
      const [hops, hop] = [self.#hops(), self.#hop()]
      return { kind: 'quantified', quantifier, hops, hop, condition: self.#predicate() }
    },
    tuples: (self) => {
      const fields = self.#fields()
      const values = self.#slots()
      return { kind: 'tuples', fields, values, exact: self.#condition() }
    },
    owned: (self) => {
      const [relation, key] = [self.#relation(), self.#field()]
      const values = self.#slots()
      return { kind: 'owned', relation, key, values, guard: self.#guard() }
    },
    count: (self) => {
      const [hops, hop] = [self.#hops(), self.#hop()]
      const operator = self.#word(POSITIVE)
      const negated = self.#flag()
      const values = self.#slots()
      return { kind: 'count', hops, hop, operator, negated, values, condition: self.#condition() }
    },
    match: (self) => ({ kind: 'match', fields: self.#fields(), values: self.#slots() }),
    beyond: (self) => {
      const inclusive = self.#flag()
      const keys = self.#times(() => ({ ...self.#orderKey(), isNull: self.#flag() }))
      return { kind: 'beyond', inclusive, keys, values: self.#slots() }
    },
  }

  #nodes(): readonly OutlinePredicate[] {
    return this.#times(() => this.#predicate())
  }

  #reading(): Omit<Reading<Slots>, 'where'> {
    const columns = this.#columns()
    return { columns, order: this.#times(() => this.#orderKey()) }
  }

  #columns(): readonly Column<Slots>[] {
    return this.#times(() => this.#column())
  }

  #column(): Column<Slots> {
    if (typeof this.#tokens[this.#at] === 'object') return ownColumn(this.#field())
    const hops = this.#hops()
    if (!this.#flag()) return { hops, field: this.#field(), nullable: this.#flag() }
    const counted = this.#hop()
    return { hops, field: counted.relation.count, nullable: false, counted }
  }

  #orderKey(): OrderKey<Slots> {
    const column = this.#column()
    return { column, direction: this.#word(['asc', 'desc']) }
  }

  #hops(): readonly Hop<Slots>[] {
    return this.#times(() => this.#hop())
  }

  #hop(): Hop<Slots> {
    const relation = this.#relation()
    const guard = this.#guard()
    return { relation, guard, linkGuard: this.#guard() }
  }

  #guard(): OutlinePredicate | null {
    const number = this.#number()
    if (number === 0) return null
    const known = this.#guards[number - 1]
    if (known !== undefined) return known
    const guard = this.#predicate()
    this.#guards[number - 1] = guard
    return guard
  }
}

const KINDS = [
  'and',
  'or',
  'compare',
  'null',
  'absent',
  'never',
  'always',
  'quantified',
  'count',
  'match',
  'owned',
  'beyond',
  'tuples',
] as const
