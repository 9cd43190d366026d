import { createHmac, createPublicKey, createSecretKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import test from 'ava'
import type { Request } from 'express'
import jsonwebtoken, { type Algorithm } from 'jsonwebtoken'
import {
  CrudConfigError,
  type Identity,
  identityFromRequest,
  type JwtIdentityOptions,
  jwtIdentity,
  Problem,
} from '../../lib/index.js'

const SECRET = 'a secret that is long enough for HS256 and HS512, which needs 64 bytes'
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const otherRsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const publicPem = rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString()

function requestWith(authorization?: string): Request {
  return { headers: authorization === undefined ? {} : { authorization } } as unknown as Request
}

/** A request with what a host's middleware has left on it. */
function requestOf(left: object): Request {
  return { headers: {}, ...left } as unknown as Request
}

const hs256: JwtIdentityOptions = { key: SECRET, algorithms: ['HS256'] }
const signed = (claims: object, key: string = SECRET, algorithm: Algorithm = 'HS256'): string =>
  jsonwebtoken.sign(claims, key, { algorithm, noTimestamp: true })

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A token whose parts are anything at all, with a signature that holds. */
function forged(header: unknown, payload: unknown, key: string | Buffer = SECRET): string {
  const content = `${encoded(header)}.${encoded(payload)}`
  return `${content}.${createHmac('sha256', key).update(content).digest('base64url')}`
}

async function identify(token: string, options: JwtIdentityOptions = hs256): Promise<Identity | null> {
  return jwtIdentity(options)(requestWith(`Bearer ${token}`))
}

const CLAIMS = { sub: 'jan', roles: ['user'] }

async function isRefused(
  t: { is: (a: unknown, b: unknown, message?: string) => boolean },
  token: string,
  options = hs256,
) {
  let thrown: unknown
  try {
    await identify(token, options)
  } catch (error) {
    thrown = error
  }
  t.is(thrown instanceof Problem ? thrown.status : thrown, 401, token)
  if (!(thrown instanceof Problem)) return
  t.is(thrown.headers['WWW-Authenticate'], 'Bearer error="invalid_token"')
  // Not a word of why.
  t.is(thrown.detail, 'The token is invalid or has expired.')
}

test('a token that holds gives the identity of its claims', async (t) => {
  const identity = await identify(signed({ ...CLAIMS, tenant: 7 }))
  t.is(identity?.name, 'jan')
  t.deepEqual([...(identity?.roles ?? [])], ['user'])
  t.deepEqual(identity?.claims, { sub: 'jan', roles: ['user'], tenant: 7 })
  t.true(Object.isFrozen(identity))
})

test('without a token the caller is anonymous, whatever else the request carries', async (t) => {
  const identify = jwtIdentity(hs256)
  t.is(await identify(requestWith()), null)
  t.is(await identify(requestWith('')), null)
  t.is(await identify(requestWith(' ')), null)
  t.is(await identify(requestOf({ user: { name: 'jan' }, auth: { name: 'jan' } })), null)
  t.is(await identify(requestOf({ query: { token: signed(CLAIMS) }, body: { token: signed(CLAIMS) } })), null)
})

test('the scheme is Bearer in any case, with any blanks before the token', async (t) => {
  for (const scheme of ['Bearer ', 'bearer ', 'BEARER ', 'Bearer   ', ' Bearer\t']) {
    const identity = await jwtIdentity(hs256)(requestWith(scheme + signed(CLAIMS)))
    t.is(identity?.name, 'jan', scheme)
  }
})

test('garbage in place of a token is 401 and never anonymous', async (t) => {
  const token = signed(CLAIMS)
  const [header = '', payload = '', signature = ''] = token.split('.')
  const garbage = [
    ...['x', '.', '..', '...', 'a.b.c', 'null', '{}', '%00', '\u0000', 'é.é.é', 'a'.repeat(100_000)],
    ...[`${header}.${payload}`, `${header}.${payload}.`, `.${payload}.${signature}`, `${header}..${signature}`],
    ...[`${token}.`, `${token}x`, `${token.slice(0, -4)}AAAA`, `${header}.${encoded({ sub: 'admin' })}.${signature}`],
    ...[`"${token}"`, token.toUpperCase()],
  ]
  for (const each of garbage) await isRefused(t, each)
  for (const header of ['Bearer', 'Bearer ', 'bearer\t']) {
    const error = await t.throwsAsync(async () => jwtIdentity(hs256)(requestWith(header)), { instanceOf: Problem })
    t.is(error?.status, 401)
  }
})

test('headers and payloads that are no objects are 401, even under a signature that holds', async (t) => {
  for (const header of [null, 5, 'HS256', [], ['HS256'], { alg: null }, { alg: 5 }, { alg: ['HS256'] }, {}]) {
    await isRefused(t, forged(header, CLAIMS))
  }
  for (const payload of [null, 5, 'admin', true, [], [CLAIMS]]) {
    await isRefused(t, forged({ alg: 'HS256', typ: 'JWT' }, payload))
    await isRefused(t, forged({ alg: 'HS256' }, payload))
  }
  t.is((await identify(forged({ alg: 'HS256', typ: 'JWT' }, CLAIMS)))?.name, 'jan')
})

test('the error of a refusal has what was wrong as its cause, for who watches requests', async (t) => {
  const late = jsonwebtoken.sign({ ...CLAIMS, exp: 1 }, SECRET)
  const lost: JwtIdentityOptions = { ...hs256, key: () => Promise.reject(new RangeError('no such key')) }
  for (const [token, options, name] of [
    [late, hs256, 'TokenExpiredError'],
    [signed(CLAIMS), { ...hs256, issuer: 'https://issuer' }, 'JsonWebTokenError'],
    [signed(CLAIMS), lost, 'RangeError'],
  ] as const) {
    const error = await t.throwsAsync(identify(token, options), { instanceOf: Problem })
    t.is(error.cause instanceof Error ? error.cause.name : null, name)
    t.false('cause' in error.toJSON())
  }
})

test('a key that verifies none of the algorithms is refused at once, since it would refuse everybody', (t) => {
  const ecPem = ec.publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const wrong: readonly (readonly [JwtIdentityOptions['key'], JwtIdentityOptions['algorithms'], RegExp])[] = [
    [
      publicPem.replaceAll('\n', '\\n'),
      ['RS256', 'HS256'],
      /: key looks like a PEM file, but is not a valid public key\. Check its line breaks$/,
    ],
    [
      `"${publicPem.replaceAll('\n', '\\n')}"`,
      ['HS256'],
      /: key looks like a PEM file, but is not a valid public key\. Check its line breaks$/,
    ],
    [
      'no pem',
      ['RS256', 'ES256'],
      /: key is a secret, which none of the algorithms RS256, ES256 can use\. HS algorithms need a secret, all others a public key$/,
    ],
    [createSecretKey(Buffer.from(SECRET)), ['PS256'], /: key is a secret, which none of the algorithms PS256 can use/],
    [publicPem, ['HS256'], /: key is a public key of type rsa, which none of the algorithms HS256 can use\./],
    [publicPem, ['ES256'], /: key is a public key of type rsa/],
    [ecPem, ['RS256', 'PS512'], /: key is a public key of type ec/],
    [rsa.privateKey, ['RS256'], /: key is a private key/],
  ]
  for (const [key, algorithms, message] of wrong) {
    t.throws(() => jwtIdentity({ key, algorithms }), { instanceOf: TypeError, message })
  }
  const right: readonly (readonly [JwtIdentityOptions['key'], JwtIdentityOptions['algorithms']])[] = [
    [SECRET, ['RS256', 'HS256']],
    [publicPem, ['HS256', 'PS256']],
    [ecPem, ['ES256']],
    [() => SECRET, ['RS256']],
  ]
  for (const [key, algorithms] of right) t.notThrows(() => jwtIdentity({ key, algorithms }))
})

test.serial('a secret shorter than the hash of an algorithm is warned of once, and verifies tokens', async (t) => {
  const warnings: Error[] = []
  const listener = (warning: Error): void => void warnings.push(warning)
  process.on('warning', listener)
  t.teardown(() => process.off('warning', listener))
  const bytes = (length: number): Buffer => Buffer.alloc(length, 'a')
  const short: readonly (readonly [key: unknown, algorithms: JwtIdentityOptions['algorithms'], told: RegExp | null])[] =
    [
      [
        'short',
        ['HS256'],
        /^jwtIdentity: key has 5 bytes, but HS256 needs at least 32 \(RFC 7518 section 3\.2\)\. .* -hex 32$/,
      ],
      [bytes(31), ['HS256'], /key has 31 bytes, but HS256 needs at least 32 /],
      [createSecretKey(bytes(47)), ['HS256', 'HS384'], /key has 47 bytes, but HS384 needs at least 48 /],
      ['ż'.repeat(31), ['HS512', 'RS256'], /key has 62 bytes, but HS512 needs at least 64 /],
      [bytes(16), ['HS256', 'HS512'], /key has 16 bytes, but HS512 needs at least 64 /],
      ['ż'.repeat(16), ['HS256'], null],
      [createSecretKey(bytes(48)), ['HS256', 'HS384'], null],
      [bytes(64), ['HS512'], null],
      [publicPem, ['RS256', 'HS512'], null],
      [() => 'short', ['HS256'], null],
    ]
  for (const [key, algorithms, message] of short) {
    jwtIdentity({ key: key as string, algorithms })
    await new Promise((resolve) => setImmediate(resolve))
    const told = warnings.splice(0).filter((warning) => Reflect.get(warning, 'code') === 'CRUD_SHORT_KEY')
    t.is(told.length, message === null ? 0 : 1, String(message))
    if (message !== null) t.regex(told[0]?.message ?? '', message)
  }
  t.is((await identify(signed(CLAIMS, 'short'), { key: 'short', algorithms: ['HS256'] }))?.name, 'jan')
})

test('broken PEM that a function finds is no secret that everybody may sign with', async (t) => {
  const broken = publicPem.replaceAll('\n', '\\n')
  await isRefused(t, signed(CLAIMS, broken), { key: () => broken, algorithms: ['RS256', 'HS256'] })
  t.is((await identify(signed(CLAIMS), { ...hs256, key: () => SECRET }))?.name, 'jan')
})

test('broken PEM in bytes, as a file has it, is no secret either', async (t) => {
  const broken = Buffer.from(publicPem.replaceAll('\n', '\\n'))
  for (const key of [broken, new Uint8Array(broken)] as unknown[] as KeyObject[]) {
    t.throws(() => jwtIdentity({ key, algorithms: ['RS256', 'HS256'] }), {
      instanceOf: TypeError,
      message: /: key looks like a PEM file, but is not a valid public key\./,
    })
    await isRefused(t, forged({ alg: 'HS256', typ: 'JWT' }, CLAIMS, broken), {
      key: () => key,
      algorithms: ['RS256', 'HS256'],
    })
  }
  const whole = Buffer.from(publicPem) as unknown as KeyObject
  t.throws(() => jwtIdentity({ key: whole, algorithms: ['HS256'] }), { message: /: key is a public key of type rsa/ })
  const options: JwtIdentityOptions = { key: whole, algorithms: ['RS256', 'HS256'] }
  const token = jsonwebtoken.sign(CLAIMS, rsa.privateKey, { algorithm: 'RS256' })
  t.is((await identify(token, options))?.name, 'jan')
  await isRefused(t, forged({ alg: 'HS256', typ: 'JWT' }, CLAIMS, publicPem), options)
})

/** A self-signed certificate of an elliptic curve in DER, as base64. Its private key is not needed. */
const CERTIFICATE = [
  'MIIBeDCCAR+gAwIBAgIUF8aVpFi7ce7XQBUB9yNyLWO5ZKYwCgYIKoZIzj0EAwIwETEPMA0GA1UEAwwGaXNzdWVyMCAXDTI2MTEz',
  'MDE0MDYxOFoYDzIxMjYxMTA2MTQwNjE4WjARMQ8wDQYDVQQDDAZpc3N1ZXIwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARu6Vum',
  'mp2gwnPGvK10fDZjpk8PqWDIQAAg4aysJs36i6lBO1761Bl3GOzxjUYR1WqeEJePz4Zb0VZbJDJCPsWdo1MwUTAdBgNVHQ4EFgQU',
  'fSUrIUNhMP2oXrlvchN7R1GuKcswHwYDVR0jBBgwFoAUfSUrIUNhMP2oXrlvchN7R1GuKcswDwYDVR0TAQH/BAUwAwEB/zAKBggq',
  'hkjOPQQDAgNHADBEAiAnEXWAD93TCNmA+X995EJzXNdRyCeVuwO5Gr4jk60PdgIgbjZehF2A8WN7mFAJT7RHx20kxB4tHz1xiv3u',
  '3H0XiNw=',
].join('')

for (const [form, key] of [
  ['DER', rsa.publicKey.export({ format: 'der', type: 'spki' })],
  ['DER as base64', rsa.publicKey.export({ format: 'der', type: 'spki' }).toString('base64')],
] as [string, Buffer & KeyObject][]) {
  test(`a public key in ${form} is a public key, and no secret that everybody may sign with`, async (t) => {
    t.throws(() => jwtIdentity({ key, algorithms: ['HS256'] }), { message: /: key is a public key of type rsa/ })
    const options: JwtIdentityOptions = { key, algorithms: ['RS256', 'HS256'] }
    const token = jsonwebtoken.sign(CLAIMS, rsa.privateKey, { algorithm: 'RS256' })
    t.is((await identify(token, options))?.name, 'jan')
    for (const each of [options, { ...options, key: () => key }])
      await isRefused(t, forged({ alg: 'HS256', typ: 'JWT' }, CLAIMS, key), each)
  })
}

test('a certificate in DER is a public key, and no secret that everybody may sign with', async (t) => {
  for (const key of [CERTIFICATE, Buffer.from(CERTIFICATE, 'base64')] as (string & KeyObject)[]) {
    t.throws(() => jwtIdentity({ key, algorithms: ['HS256'] }), { message: /: key is a public key of type ec/ })
    const options: JwtIdentityOptions = { key: () => key, algorithms: ['ES256', 'HS256'] }
    await isRefused(t, forged({ alg: 'HS256', typ: 'JWT' }, CLAIMS, key), options)
  }
})

test('a token signed with another key is 401', async (t) => {
  await isRefused(t, signed(CLAIMS, 'another secret that is just as long as it needs'))
  await isRefused(t, signed(CLAIMS, `${SECRET} `))
  await isRefused(t, forged({ alg: 'HS256', typ: 'JWT' }, CLAIMS, Buffer.alloc(0)))
})

test('an expired token is 401, and one that is not valid yet', async (t) => {
  const now = Math.floor(Date.now() / 1000)
  t.is((await identify(signed({ ...CLAIMS, exp: now + 3600, nbf: now - 3600 })))?.name, 'jan')
  await isRefused(t, signed({ ...CLAIMS, exp: now - 3600 }))
  await isRefused(t, signed({ ...CLAIMS, nbf: now + 3600 }))
  for (const wrong of ['2099-01-01', null, {}, String(now + 3600)]) {
    await isRefused(t, forged({ alg: 'HS256', typ: 'JWT' }, { ...CLAIMS, exp: wrong }))
    await isRefused(t, forged({ alg: 'HS256', typ: 'JWT' }, { ...CLAIMS, nbf: wrong }))
  }
})

test('clockTolerance bears with clocks that differ', async (t) => {
  const now = Math.floor(Date.now() / 1000)
  const tolerant = { ...hs256, clockTolerance: 7200 }
  t.is((await identify(signed({ ...CLAIMS, exp: now - 3600 }), tolerant))?.name, 'jan')
  t.is((await identify(signed({ ...CLAIMS, nbf: now + 3600 }), tolerant))?.name, 'jan')
  await isRefused(t, signed({ ...CLAIMS, exp: now - 36_000 }), tolerant)
})

test('the algorithm none is 401 in every spelling, with and without a signature', async (t) => {
  for (const alg of ['none', 'None', 'NONE', 'nOnE', '', 'hs256', 'HS256 ', 'HS256\u0000']) {
    const content = `${encoded({ alg, typ: 'JWT' })}.${encoded(CLAIMS)}`
    await isRefused(t, `${content}.`)
    await isRefused(t, `${content}.${createHmac('sha256', SECRET).update(content).digest('base64url')}`)
  }
  await isRefused(t, jsonwebtoken.sign(CLAIMS, '', { algorithm: 'none' }))
})

test('an algorithm that the host did not name is 401, whatever the key', async (t) => {
  await isRefused(t, signed(CLAIMS, SECRET, 'HS512'))
  await isRefused(t, signed(CLAIMS, SECRET, 'HS384'))
  t.is((await identify(signed(CLAIMS, SECRET, 'HS512'), { key: SECRET, algorithms: ['HS256', 'HS512'] }))?.name, 'jan')
})

test('a public key is no secret: HS256 with it is 401, even where the host names both kinds of algorithms', async (t) => {
  const token = jsonwebtoken.sign(CLAIMS, rsa.privateKey, { algorithm: 'RS256' })
  for (const key of [publicPem, rsa.publicKey]) {
    for (const algorithms of [['RS256'], ['RS256', 'HS256']] as const) {
      t.is((await identify(token, { key, algorithms }))?.name, 'jan')
      await isRefused(t, forged({ alg: 'HS256', typ: 'JWT' }, CLAIMS, publicPem), { key, algorithms })
      await isRefused(t, forged({ alg: 'HS256', typ: 'JWT' }, CLAIMS, publicPem.trim()), { key, algorithms })
      await isRefused(t, jsonwebtoken.sign(CLAIMS, otherRsa.privateKey, { algorithm: 'RS256' }), { key, algorithms })
      await isRefused(t, jsonwebtoken.sign(CLAIMS, ec.privateKey, { algorithm: 'ES256' }), { key, algorithms })
    }
  }
})

test('keys may be KeyObjects of every kind', async (t) => {
  const secret = createSecretKey(Buffer.from(SECRET))
  t.is((await identify(signed(CLAIMS), { key: secret, algorithms: ['HS256'] }))?.name, 'jan')
  const token = jsonwebtoken.sign(CLAIMS, ec.privateKey, { algorithm: 'ES256' })
  t.is((await identify(token, { key: createPublicKey(ec.privateKey), algorithms: ['ES256'] }))?.name, 'jan')
})

test('the issuer and the audience must be among those that the host names', async (t) => {
  const one = { ...hs256, issuer: 'https://id.test', audience: 'league' }
  const many = { ...hs256, issuer: ['https://old.test', 'https://id.test'], audience: ['shop', 'league'] }
  const good = { ...CLAIMS, iss: 'https://id.test', aud: 'league' }
  for (const options of [one, many]) {
    t.is((await identify(signed(good), options))?.name, 'jan')
    t.is((await identify(signed({ ...good, aud: ['other', 'league'] }), options))?.name, 'jan')
    await isRefused(t, signed(CLAIMS), options)
    await isRefused(t, signed({ ...good, iss: 'https://id.test.evil' }), options)
    await isRefused(t, signed({ ...good, iss: 'https://ID.test' }), options)
    await isRefused(t, forged({ alg: 'HS256', typ: 'JWT' }, { ...good, iss: ['https://id.test'] }), options)
    await isRefused(t, signed({ ...good, aud: 'leagues' }), options)
    await isRefused(t, signed({ ...good, aud: [] }), options)
    await isRefused(t, signed({ iss: good.iss, sub: 'jan' }), options)
  }
})

test('a check that is misspelt, not set or of another kind is told at once, and never left out', (t) => {
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ isuer: 'https://id.test' }, /^jwtIdentity: the option "isuer" does not exist\. Did you mean "issuer"\?$/],
    [{ issuer: undefined }, /^jwtIdentity: issuer must be/],
    [{ issuer: '' }, /^jwtIdentity: issuer must be/],
    [{ issuer: ' ' }, /^jwtIdentity: issuer must be/],
    [{ audience: ['league', undefined] }, /^jwtIdentity: audience must be/],
    [{ audience: 5 }, /^jwtIdentity: audience must be/],
    [{ clockTolerance: '5' }, /^jwtIdentity: clockTolerance must be/],
    [{ clockTolerance: -1 }, /^jwtIdentity: clockTolerance must be/],
    [{ clockTolerance: Number.NaN }, /^jwtIdentity: clockTolerance must be/],
  ]
  for (const [options, message] of wrong) {
    const given = { ...hs256, ...options } as Parameters<typeof jwtIdentity>[0]
    t.throws(() => jwtIdentity(given), { instanceOf: TypeError, message }, JSON.stringify(options))
  }
  t.notThrows(() => jwtIdentity({ ...hs256, clockTolerance: 0 }))
})

test('an option that does not exist is told before the one that is missing for it', (t) => {
  for (const [name, meant] of [
    ['secret', 'key'],
    ['secretOrKey', 'key'],
    ['publicKey', 'key'],
    ['algorithm', 'algorithms'],
  ]) {
    const given = { [String(name)]: 'x' } as never as Parameters<typeof jwtIdentity>[0]
    const message = `jwtIdentity: the option "${name}" does not exist. Did you mean "${meant}"?`
    t.throws(() => jwtIdentity(given), { instanceOf: TypeError, message })
  }
})

test('an empty list of issuers or audiences admits no token', async (t) => {
  await isRefused(t, signed({ ...CLAIMS, iss: 'x' }), { ...hs256, issuer: [] })
  await isRefused(t, signed(CLAIMS), { ...hs256, audience: [] })
})

test('a function finds the key by the header of the token', async (t) => {
  const keys = new Map<string, string>([
    ['old', 'the old secret, which is long enough for HS256'],
    ['new', 'the new secret, which is long enough for HS256'],
  ])
  const seen: { readonly kid?: string | undefined }[] = []
  const key = async (header: { readonly kid?: string | undefined }): Promise<string> => {
    seen.push(header)
    return keys.get(header.kid ?? '') ?? ''
  }
  const options: JwtIdentityOptions = { key, algorithms: ['HS256'] }
  const tokenOf = (kid: string, secret: string): string =>
    jsonwebtoken.sign(CLAIMS, secret, { algorithm: 'HS256', keyid: kid })
  for (const [kid, secret] of keys) t.is((await identify(tokenOf(kid, secret), options))?.name, 'jan')
  t.deepEqual(
    seen.map(({ kid }) => kid),
    ['old', 'new'],
  )
  // The other's key, no key at all, and what a Map is proof against.
  await isRefused(t, tokenOf('old', keys.get('new') ?? ''), options)
  await isRefused(t, forged({ alg: 'HS256', typ: 'JWT', kid: 'gone' }, CLAIMS, Buffer.alloc(0)), options)
  await isRefused(t, forged({ alg: 'HS256', typ: 'JWT', kid: '__proto__' }, CLAIMS, Buffer.alloc(0)), options)
})

test('a function that gives no key, an empty one or an error is 401', async (t) => {
  const token = signed(CLAIMS)
  const answers: readonly unknown[] = [
    undefined,
    null,
    '',
    '  ',
    false,
    {},
    () => SECRET,
    createSecretKey(Buffer.alloc(0)),
    Buffer.alloc(0),
  ]
  for (const answer of answers) {
    for (const key of [() => answer, async () => answer]) {
      const options = { key: key as () => string, algorithms: ['HS256'] as const }
      await isRefused(t, token, options)
      await isRefused(t, forged({ alg: 'HS256', typ: 'JWT' }, CLAIMS, Buffer.alloc(0)), options)
    }
  }
  const throwing = (): never => {
    throw new Error('the key server is down')
  }
  const failing = async (): Promise<never> => throwing()
  for (const key of [throwing, failing]) await isRefused(t, token, { key, algorithms: ['HS256'] })
})

test('jwtIdentity refuses empty keys when it is made', (t) => {
  const keys: readonly unknown[] = [
    undefined,
    null,
    '',
    '   ',
    0,
    true,
    {},
    [],
    createSecretKey(Buffer.alloc(0)),
    Buffer.alloc(0),
    new Uint8Array(0),
  ]
  for (const key of keys) {
    t.throws(() => jwtIdentity({ key: key as KeyObject, algorithms: ['HS256'] }), {
      instanceOf: TypeError,
      message: typeof key === 'string' ? /^jwtIdentity: key is empty\. Set .*JWT_SECRET/ : /^jwtIdentity: key must/,
    })
  }
})

test('jwtIdentity without options says so', (t) => {
  for (const options of [undefined, null, 'secret'])
    t.throws(() => jwtIdentity(options as never), {
      message: 'jwtIdentity: the options are missing. Call jwtIdentity({ key, algorithms })',
    })
})

test('jwtIdentity refuses algorithms that are none when it is made', (t) => {
  const lists: readonly unknown[] = [
    undefined,
    null,
    [],
    ['none'],
    ['HS256', 'None'],
    ['HS256', ''],
    'HS256',
    [undefined],
    {},
  ]
  for (const algorithms of lists) {
    t.throws(() => jwtIdentity({ key: SECRET, algorithms: algorithms as JwtIdentityOptions['algorithms'] }), {
      instanceOf: TypeError,
      message: /^jwtIdentity: algorithms/,
    })
  }
})

test('what the host does to its options later changes nothing', async (t) => {
  const algorithms: Algorithm[] = ['HS256']
  const identify = jwtIdentity({ key: SECRET, algorithms: algorithms as JwtIdentityOptions['algorithms'] })
  algorithms.push('none', 'HS512')
  await t.throwsAsync(async () => identify(requestWith(`Bearer ${signed(CLAIMS, SECRET, 'HS512')}`)), {
    instanceOf: Problem,
  })
})

interface Mapping {
  readonly claims: object
  readonly name?: string | null
  readonly roles?: readonly string[]
  readonly permissions?: readonly string[]
}

const MAPPINGS: readonly Mapping[] = [
  { claims: {}, name: null, roles: [], permissions: [] },
  { claims: { name: 'Jan', preferred_username: 'jan', sub: '1' }, name: 'Jan' },
  { claims: { preferred_username: 'jan', sub: '1' }, name: 'jan' },
  { claims: { name: '', preferred_username: 5, sub: '1' }, name: '1' },
  { claims: { name: { first: 'Jan' } }, name: null },
  { claims: { role: 'admin' }, roles: ['admin'] },
  { claims: { role: '', permission: '', scope: ' ' }, roles: [], permissions: [] },
  { claims: { role: ['admin'], roles: ['user', 'admin'] }, roles: ['admin', 'user'] },
  { claims: { roles: 'admin user' }, roles: ['admin user'] },
  { claims: { roles: ['', 5, null, ['admin'], { name: 'admin' }] }, roles: [] },
  { claims: { roles: { admin: true } }, roles: [] },
  { claims: { permission: 'read' }, permissions: ['read'] },
  { claims: { permissions: ['read', 'write'] }, permissions: ['read', 'write'] },
  { claims: { scope: 'read  write\tadmin' }, permissions: ['read', 'write', 'admin'] },
  { claims: { scp: ['read', 'write list'] }, permissions: ['read', 'write', 'list'] },
  { claims: { scope: 'a', scp: 'b', permission: 'c', permissions: 'd' }, permissions: ['c', 'd', 'a', 'b'] },
  { claims: { scope: 5, scp: {}, permission: true, permissions: null }, permissions: [] },
]

for (const { claims, ...expected } of MAPPINGS) {
  test(`the claims ${JSON.stringify(claims)} give ${JSON.stringify(expected)}, from a token and from a session`, async (t) => {
    const identities = [
      await identify(signed(claims)),
      identityFromRequest(requestOf({ auth: claims })),
      identityFromRequest(requestOf({ user: claims })),
    ]
    for (const identity of identities) {
      if ('name' in expected) t.is(identity?.name, expected.name)
      if (expected.roles !== undefined) t.deepEqual([...(identity?.roles ?? ['?'])], [...expected.roles])
      if (expected.permissions !== undefined)
        t.deepEqual([...(identity?.permissions ?? ['?'])], [...expected.permissions])
    }
  })
}

test('identityFromRequest that is called without a request says that it is the function itself', (t) => {
  t.throws(() => Reflect.apply(identityFromRequest, undefined, []), {
    instanceOf: CrudConfigError,
    code: 'INVALID_OPTION',
    message: /without parentheses/,
  })
})

test('identityFromRequest prefers req.auth to req.user, and without either the caller is anonymous', (t) => {
  t.is(identityFromRequest(requestOf({ auth: { sub: 'a' }, user: { sub: 'u' } }))?.name, 'a')
  t.is(identityFromRequest(requestOf({ auth: null, user: { sub: 'u' } }))?.name, 'u')
  for (const left of [
    {},
    { user: null },
    { auth: undefined },
    { user: 'jan' },
    { user: true },
    { auth: false },
    { user: 5 },
  ]) {
    t.is(identityFromRequest(requestOf(left)), null, JSON.stringify(left))
  }
})

test('identityFromRequest reads no header: a token that nobody verified is worth nothing', (t) => {
  t.is(identityFromRequest(requestWith(`Bearer ${signed(CLAIMS)}`)), null)
})
