// What is odd about names, texts and numbers.

import { chance, oneOf, type Random, weighted } from './choose.js'

/** Names that mean something to JavaScript, to databases or to the query language. */
const SPECIAL = [
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'prototype', '__defineGetter__', 'then'],
  ...['length', 'toJSON', 'dataValues', 'sequelize', 'isNewRecord', 'where', '$or', '$gt', '$where', 'Op.or', '*', '?'],
  ...['any', 'all', 'none', 'count', 'null', 'undefined', 'true', 'NaN', '', ' ', '.', '..', '0', '-1', '[]', '[0]'],
  ...['rowid', '_rowid_', 'oid', 'ctid', 'name"', "name'", 'name`', 'name--', 'name;', 'İ', 'ſ', 'NAME', 'na\u0000me'],
] as const

/** Attributes that are in no body, or in none of the shapes. */
const KEPT = [
  ...['id', 'tenantId', 'ownerId', 'hidden', 'isDeleted', 'deletedAt', 'rowVersion', 'version'],
  ...['createdAt', 'updatedAt', 'createdBy', 'updatedBy', 'isPublic', 'tenant_id', 'created_by', 'code'],
] as const

const ODD_TEXTS = [
  ...[
    '',
    ' ',
    'null',
    '\\null',
    'true',
    '0',
    '[object Object]',
    "' OR 1=1 --",
    "'; DROP TABLE players; --",
    '") OR (1=1',
  ],
  ...['%', '_', '%%', '\\', '\\\\', '\\%', '*', '[a-z]', '$1', '$tenant', ':tenantId', '?', '@@version', '{{7*7}}'],
  ...['a,b|c(d)', 'a;b;c', '/i', 'x/i', '=x', '>5', '<b>', '=in=', '../../etc/passwd', '%00', '%2e%2e%2f', 'a\r\nb: c'],
  ...['\u0000', 'a\u0000b', '\ud800', '\udfffx', '\ufeff', '\u202etxet', 'Łódź', 'ﬀ', 'é', '👩‍👩‍👧', 'K', '\u2028'],
  ...['zq', 'zqs0', 'q', 'zqc0x1y', 'badge', 'anna', 'bert'],
] as const

const ODD_NUMBERS = [
  ...['0', '-0', '-1', '1', '2', '7', '99', '2147483647', '2147483648', '-2147483649', '4294967296'],
  ...['9007199254740991', '9007199254740993', '9223372036854775807', '9223372036854775808', '-9223372036854775809'],
  ...[
    '1e5',
    '1e400',
    '1E-400',
    '0x10',
    '0b1',
    '1_000',
    '+5',
    '.5',
    '5.',
    '1.5',
    '00012',
    'NaN',
    'Infinity',
    '٣',
    '５',
    '1,5',
  ],
  ...['0.1', '-0.0', '123456789012.34', '999999999999999999.99', '0.00000000000000000001'],
] as const

export function specialName(random: Random): string {
  return weighted(random, [
    [6, () => oneOf(random, SPECIAL)],
    [4, () => oneOf(random, KEPT)],
    [1, () => 'n'.repeat(1 + Math.floor(random() * 3000))],
  ])
}

export function oddText(random: Random): string {
  return weighted(random, [
    [8, () => oneOf(random, ODD_TEXTS)],
    [2, () => oneOf(random, ODD_TEXTS) + oneOf(random, ODD_TEXTS)],
    [
      1,
      () =>
        oneOf(random, ['a', 'ab', '👍', '\\', '"', "'", ' ', '(', '.', '%', '\u0000']).repeat(
          Math.floor(random() * 5000),
        ),
    ],
  ])
}

export function oddNumber(random: Random): string {
  return chance(random, 0.05) ? '9'.repeat(1 + Math.floor(random() * 500)) : oneOf(random, ODD_NUMBERS)
}

/** A name in any case. */
export function anyCase(random: Random, name: string): string {
  return weighted(random, [
    [5, () => name],
    [3, () => name.charAt(0).toUpperCase() + name.slice(1)],
    [1, () => name.toUpperCase()],
    [1, () => name.toLowerCase()],
  ])
}
