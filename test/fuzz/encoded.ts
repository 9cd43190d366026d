import { oneOf, weighted } from './choose.js'
import type { Making } from './making.js'

/** Percent-encoding as clients do it, as little of it as will do, all of it, and some of it broken. */
export function encoded({ random, odd }: Making, text: string): string {
  const bytes = Buffer.from(text.slice(0, 12_000))
  const every = (): string => bytes.toString('hex').replace(/../g, (hex) => `%${hex}`)
  return weighted(random, [
    [14, () => encodeURIComponent(bytes.toString())],
    [3, () => encodeURI(bytes.toString()).replace(/[&#+]/g, encodeURIComponent)],
    [1, () => encodeURIComponent(bytes.toString()).replaceAll('%20', '+')],
    [0.3, every],
    [
      odd(0.5) ? 1 : 0,
      () =>
        encodeURIComponent(bytes.toString()) +
        oneOf(random, ['%', '%2', '%zz', '%u0041', '%C3', '%ED%A0%80', '%00', '%FF']),
    ],
  ])
}
