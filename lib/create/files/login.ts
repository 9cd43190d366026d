import { createForTypeScript, joinLines, type Plan, writeImport } from './plan.js'

/** Writes the file that signs tokens. For a new database, the file also has accounts. */
export function writeLogin(plan: Plan): string {
  return plan.from === null ? writeAccounts(plan) : writeTokens(plan)
}

function writeSigning(plan: Plan): readonly string[] {
  return [
    "export const identity = jwtIdentity({ key, algorithms: ['HS256'] })",
    '',
    `export function sign(name${createForTypeScript(plan)(': string')}) {`,
    `  return jsonwebtoken.sign({ name }, key, { algorithm: 'HS256', subject: name, expiresIn: '1h' })`,
    '}',
  ]
}

/** Writes a program that creates tokens. Without accounts, everybody who has the key may create tokens. */
function writeTokens(plan: Plan): string {
  return joinLines(
    `import { existsSync } from 'node:fs'`,
    `import jsonwebtoken from 'jsonwebtoken'`,
    `import { jwtIdentity } from 'sequelize-crud-router'`,
    '',
    `if (existsSync('.env')) process.loadEnvFile()`,
    `const key = process.env.JWT_SECRET ?? ''`,
    `if (key.length < 32) throw new Error('JWT_SECRET must have at least 32 characters. Set it in .env or in the environment.')`,
    '',
    ...writeSigning(plan),
    '',
    '// npm run token -- ana',
    `if (process.argv[2] === 'token') console.log(sign(process.argv[3] ?? 'admin'))`,
  )
}

const hashLines = (typed: (text: string) => string): readonly string[] => [
  `function hash(password${typed(': string')}, salt${typed(': Buffer')})${typed(': Promise<Buffer>')} {`,
  '  return new Promise((resolve, reject) => {',
  '    scrypt(password, salt, 32, { N: 2 ** 14, r: 8, p: 5 }, (error, key) => (error === null ? resolve(key) : reject(error)))',
  '  })',
  '}',
]

function writeAccounts(plan: Plan): string {
  const typed = createForTypeScript(plan)
  const isTyped = plan.language === 'typescript'
  const types = isTyped ? ['type InferAttributes', 'type InferCreationAttributes', 'Model'] : []
  return joinLines(
    `import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'`,
    `import express from 'express'`,
    `import jsonwebtoken from 'jsonwebtoken'`,
    writeImport(['DataTypes', ...types], 'sequelize'),
    `import { jwtIdentity, Problem } from 'sequelize-crud-router'`,
    `import { sequelize } from './models.${isTyped ? 'ts' : 'js'}'`,
    '',
    `if (process.env.JWT_SECRET === undefined && process.env.NODE_ENV === 'production') throw new Error('JWT_SECRET is not set.')`,
    '// Without JWT_SECRET, tokens become invalid when the process ends.',
    `const key = process.env.JWT_SECRET ?? randomBytes(32).toString('base64url')`,
    '',
    ...writeSigning(plan),
    '',
    ...writeUserModel(isTyped),
    '',
    ...hashLines(typed),
    '',
    `export async function createUser(name${typed(': string')}, password${typed(': string')}) {`,
    '  const salt = randomBytes(16)',
    `  return User.create({ name, salt: salt.toString('hex'), hash: (await hash(password, salt)).toString('hex') })`,
    '}',
    '',
    '/** The first start creates the account `admin`, and shows its password once. */',
    'export async function createFirstUser() {',
    '  if ((await User.count()) > 0) return',
    `  const password = process.env.ADMIN_PASSWORD ?? randomBytes(9).toString('base64url')`,
    `  await createUser('admin', password)`,
    `  if (process.env.ADMIN_PASSWORD === undefined) console.log(\`The account is admin, the password is \${password}\`)`,
    '}',
    '',
    '/** Returns a token for a name and password. Limit the attempts before you publish the application. */',
    `export const login = express.Router().post('/login', express.json({ limit: '1kb' }), async (req, res) => {`,
    '  const { name, password } = req.body ?? {}',
    `  if (typeof name !== 'string' || typeof password !== 'string') throw new Problem({ status: 400, detail: 'Send a name and a password.' })`,
    '  const user = await User.findOne({ where: { name } })',
    '  // Hashes for unknown names too, so that the time does not reveal them.',
    `  const hashed = await hash(password, Buffer.from(user?.get('salt') ?? '', 'hex'))`,
    `  const isRight = user !== null && timingSafeEqual(hashed, Buffer.from(user.get('hash'), 'hex'))`,
    `  if (!isRight) throw new Problem({ status: 401, detail: 'The name or the password is wrong.' })`,
    `  res.set('Cache-Control', 'no-store').json({ token: sign(name) })`,
    '})',
  )
}

/** Writes the model of accounts, which has no router. */
function writeUserModel(isTyped: boolean): readonly string[] {
  const attributes = [
    '    name: { type: DataTypes.STRING(50), primaryKey: true },',
    '    salt: { type: DataTypes.STRING(32), allowNull: false },',
    '    hash: { type: DataTypes.STRING(64), allowNull: false },',
  ]
  if (!isTyped) {
    return [
      '/** Accounts. No router serves them. */',
      `export const User = sequelize.define(`,
      `  'User',`,
      '  {',
      ...attributes,
      '  },',
      '  { timestamps: false },',
      ')',
    ]
  }
  return [
    '/** Accounts. No router serves them. */',
    'export class User extends Model<InferAttributes<User>, InferCreationAttributes<User>> {',
    '  declare name: string',
    '  declare salt: string',
    '  declare hash: string',
    '}',
    '',
    'User.init(',
    '  {',
    ...attributes,
    '  },',
    '  { sequelize, timestamps: false },',
    ')',
  ]
}
