// Names of secrets, for the warning at mount and for applications that `npm create --from` writes.

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

/** Whether an attribute or a column has the name of a secret, such as `passwordHash` or `api_key`. */
export function isSecretName(name: string): boolean {
  const words = wordsOf(name)
  return words.some((word, index) => WORDS.has(word) || PAIRS.has(`${word} ${words[index + 1]}`))
}
