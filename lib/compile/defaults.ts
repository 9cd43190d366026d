import type { OptionShape } from '../../types/check.js'
import type { CrudDefaults } from '../../types/options.js'
import { BEHAVIOURS } from '../behaviours.js'
import { ConfigProblems } from '../config/problems.js'
import { checkOptions, optionShape } from './options.js'

/** The options that resources may share, but for `io`, which is a part of one. */
const SHARED: readonly string[] = [
  'identity',
  'policies',
  'limits',
  'onError',
  'messages',
  'namedStatements',
  'transaction',
  'idempotency',
  'toJSON',
] satisfies (keyof CrudDefaults)[]

/** @throws CrudConfigError for defaults that no resource could take, before there is one */
export function assertDefaults(defaults: CrudDefaults): void {
  const { push, ...all } = optionShape(BEHAVIOURS)
  const shared = Object.fromEntries(Object.entries(all).filter(([name]) => SHARED.includes(name)))
  const { io } = push?.members ?? {}
  const shape: OptionShape = io === undefined ? shared : { ...shared, io }
  const problems = new ConfigProblems()
  checkOptions('createCrud', defaults, shape, problems)
  problems.throwIfAny()
}
