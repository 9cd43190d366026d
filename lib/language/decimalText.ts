/**
 * Writes a finite number with the fewest digits that parse to the number. The text has no exponent, because filters and
 * typed parameters do not support exponents.
 */
export function decimalText(value: number): string {
  const [digits = '', exponent] = String(Math.abs(value)).split('e')
  if (exponent === undefined) return String(value)
  const [whole = '', fraction = ''] = digits.split('.')
  const point = whole.length + Number(exponent)
  const all = whole + fraction
  const sign = value < 0 ? '-' : ''
  return point > 0 ? `${sign}${all.padEnd(point, '0')}` : `${sign}0.${'0'.repeat(-point)}${all}`
}
