import test from 'ava'
import type { Request } from 'express'
import {
  allOf,
  anyOf,
  authenticated,
  CrudConfigError,
  hasPermission,
  hasRole,
  type Identity,
  not,
  type Policy,
  type PolicyContext,
  type Resource,
} from '../../lib/index.js'

function contextOf(identity: Identity | null): PolicyContext {
  return { request: {} as Request, identity, operation: 'getList', resource: {} as Resource }
}

function someone(roles: readonly string[] = [], permissions: readonly string[] = []): PolicyContext {
  return contextOf({ name: 'jan', roles: new Set(roles), permissions: new Set(permissions), claims: {} })
}

const anonymous = contextOf(null)
const yes: Policy = () => true
const no: Policy = () => false
const later: Policy = async () => true
const broken: Policy = () => {
  throw new Error('broken')
}
/** What a policy in JavaScript may give by mistake. */
const MISTAKES: readonly unknown[] = [undefined, null, 1, 0, '', 'true', {}, [], new Boolean(true), Number.NaN]
const giving = (value: unknown): Policy => (() => value) as Policy

test('authenticated admits everybody but anonymous callers', (t) => {
  t.true(authenticated(someone()))
  t.false(authenticated(anonymous))
})

test('hasRole admits by the exact name of a role, and by nothing else', (t) => {
  const admin = hasRole('admin')
  t.true(admin(someone(['user', 'admin'])))
  for (const context of [anonymous, someone(), someone(['Admin']), someone(['admins']), someone([], ['admin'])]) {
    t.false(admin(context))
  }
})

test('hasPermission admits by the exact name of a permission; a role of the name does not count', (t) => {
  const read = hasPermission('read')
  t.true(read(someone([], ['read'])))
  for (const context of [anonymous, someone(), someone(['read']), someone([], ['reads', 'READ'])])
    t.false(read(context))
})

test('anyOf admits whom one of them admits, and asks no further', async (t) => {
  t.true(await anyOf(no, later, broken)(anonymous))
  t.false(await anyOf(no, no)(anonymous))
})

test('allOf admits whom all of them admit, and asks no further than the first that does not', async (t) => {
  t.true(await allOf(yes, later)(anonymous))
  t.false(await allOf(yes, no, broken)(anonymous))
})

test('not admits whom the policy denies', async (t) => {
  t.false(await not(yes)(anonymous))
  t.false(await not(later)(anonymous))
  t.true(await not(no)(anonymous))
})

test('what is neither true nor false admits nobody, in no combination', async (t) => {
  for (const mistake of MISTAKES) {
    const policy = giving(mistake)
    t.false(await not(policy)(anonymous), `not ${String(mistake)}`)
    t.false((await not(not(policy))(anonymous)) && (await policy(anonymous)) === true)
    t.false(await anyOf(policy)(anonymous), `anyOf ${String(mistake)}`)
    t.false(await allOf(yes, policy)(anonymous), `allOf ${String(mistake)}`)
    t.false(await not(giving(Promise.resolve(mistake)))(anonymous), `not a promise of ${String(mistake)}`)
    t.false(await anyOf(giving(Promise.resolve(mistake)))(anonymous))
  }
})

test('what a policy throws comes through every combination', async (t) => {
  const failing: Policy = async () => {
    throw new Error('broken')
  }
  for (const policy of [
    not(broken),
    anyOf(no, broken),
    allOf(yes, broken),
    not(failing),
    anyOf(failing),
    allOf(failing),
  ]) {
    await t.throwsAsync(async () => policy(anonymous), { message: 'broken' })
  }
})

test('combinators nest', async (t) => {
  const policy = anyOf(hasRole('admin'), allOf(authenticated, not(hasRole('banned')), hasPermission('write')))
  t.true(await policy(someone(['admin', 'banned'])))
  t.true(await policy(someone([], ['write'])))
  t.false(await policy(someone(['banned'], ['write'])))
  t.false(await policy(anonymous))
})

test('combinators refuse, when they are made, what would admit or deny everybody by mistake', (t) => {
  const wrong = undefined as unknown as Policy
  t.throws(() => anyOf(), { instanceOf: TypeError, message: /anyOf/ })
  t.throws(() => allOf(), { instanceOf: TypeError, message: /allOf/ })
  t.throws(() => allOf(yes, wrong), { instanceOf: TypeError })
  t.throws(() => anyOf(wrong), { instanceOf: TypeError })
  t.throws(() => not(wrong), { instanceOf: TypeError, message: /not/ })
  t.throws(() => not('admin' as unknown as Policy), { instanceOf: TypeError })
  t.throws(() => hasRole(''), { instanceOf: TypeError, message: /hasRole/ })
  t.throws(() => hasRole(undefined as unknown as string), { instanceOf: TypeError })
  t.throws(() => hasPermission(''), { instanceOf: TypeError, message: /hasPermission/ })
})

test('a policy of one name or one policy refuses several, instead of ignoring all but the first', async (t) => {
  const several: readonly (readonly [
    policy: (...given: never[]) => Policy,
    given: readonly unknown[],
    remedy: RegExp,
  ])[] = [
    [hasRole, ['admin', 'editor'], /^hasRole: only one name .* anyOf\(hasRole\('one'\), hasRole\('other'\)\)$/],
    [hasRole, [['admin', 'editor']], /^hasRole: only one name/],
    [hasPermission, ['read', 'write'], /^hasPermission: only one name .* anyOf\(hasPermission\('one'\)/],
    [not, [hasRole('banned'), hasRole('suspended')], /^not: only one policy .* not\(anyOf\(policy, other\)\)$/],
  ]
  for (const [policy, given, message] of several) {
    t.throws(() => Reflect.apply(policy, undefined, given), { instanceOf: TypeError, message })
  }
  const editors = anyOf(...['admin', 'editor'].map(hasRole))
  t.true(await editors(someone(['editor'])))
  t.true(await allOf(...[no, hasRole('banned')].map(not))(someone()))
})

test('authenticated that is called says that it is the policy itself', (t) => {
  t.throws(() => Reflect.apply(authenticated, undefined, []), {
    instanceOf: CrudConfigError,
    code: 'INVALID_OPTION',
    message:
      'authenticated must not be called. Write it without parentheses: authorizePolicy: authenticated. (INVALID_OPTION)',
  })
})
