import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'

// One of the equally strong settings that OWASP recommends: 16 MiB of memory and five iterations.
const COST: ScryptOptions = { N: 2 ** 14, r: 8, p: 5 }
const LENGTH = 32

/** Hashes a password with scrypt and a random salt. The result contains the salt and the hash. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const key = await derive(password, salt)
  return `${salt.toString('base64url')}.${key.toString('base64url')}`
}

/** Whether a password matches a hash. The duration does not reveal how much of the password is correct. */
export async function isPassword(password: string, hashed: string): Promise<boolean> {
  const [salt = '', kept = ''] = hashed.split('.')
  const key = await derive(password, Buffer.from(salt, 'base64url'))
  const expected = Buffer.from(kept, 'base64url')
  return expected.length === key.length && timingSafeEqual(expected, key)
}

function derive(password: string, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password, salt, LENGTH, COST, (error, key) => (error === null ? resolve(key) : reject(error)))
  })
}
