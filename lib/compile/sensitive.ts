import type { Field } from '../../types/field.js'
import type { CrudOptions } from '../../types/options.js'

const WORDS: ReadonlySet<string> = new Set([
  ...['password', 'passwords', 'passwd', 'pwd', 'passphrase', 'passcode', 'secret', 'secrets', 'token', 'tokens'],
  ...['hash', 'salt', 'otp', 'totp', 'pin', 'apikey', 'privatekey', 'credential', 'credentials', 'cvv', 'cvc', 'ssn'],
])

/** Pairs of words that are sensitive only together, joined by a blank. */
const PAIRS: ReadonlySet<string> = new Set(['api key', 'private key', 'access key', 'signing key', 'encryption key'])

/** Splits an attribute's name into lower-case words: `apiKey`, `api_key` and `APIKey` have two words. */
function wordsOf(name: string): readonly string[] {
  const words = name.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+/gu) ?? []
  return words.map((word) => word.toLowerCase())
}

function isSensitive(name: string): boolean {
  const words = wordsOf(name)
  return words.some((word, index) => WORDS.has(word) || PAIRS.has(`${word} ${words[index + 1]}`))
}

/** Warns of response fields with names of secrets, unless an option mentions them. */
export function warnOfSensitive(model: string, fields: readonly Field[], options: CrudOptions): void {
  const named = new Set([
    ...Object.keys(options.fields ?? {}),
    ...Object.keys(options.mask ?? {}),
    ...[options.keyProperty ?? []].flat(),
  ])
  const isShown = ({ name, targets }: Field): boolean =>
    (targets.has('response') || targets.has('list')) && !named.has(name) && isSensitive(name)
  const names = fields.filter(isShown).map(({ name }) => name)
  const [first] = names
  if (first === undefined) return
  const which = names.map((name) => `"${name}"`).join(', ')
  process.emitWarning(
    `${model}: responses contain fields with names of secrets: ${which}. Exclude such a field by fields: { ${first}: { exclude: true } }, restrict it by the option mask, or ` +
      `confirm by fields: { ${first}: {} } that clients may read it.`,
    { code: 'CRUD_SENSITIVE_FIELD' },
  )
}
