import type { JsonValue } from '../../types/field.js'
import type { JsonSchema } from '../../types/openApi.js'
import { createMessage } from '../common/messages.js'
import { toBuffer, toJson } from './anyJson.js'
import { type Codec, type Reader, type RuledField, rejectWith } from './codec.js'
import { omitUndefined } from './schema.js'

const BYTES: JsonSchema = { type: 'string', contentEncoding: 'base64' }
// Four characters encode three bytes. The unused bits of the last group must be zero.
const BASE64 = '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$'

/** The codec of binary data, which is base64 in JSON. */
export const blob: Codec = {
  createBodyReader,
  readText: () => null,
  createDecoder: () => decodeBlob,
  noun: () => 'binary data',
  schemas: {
    reply: () => BYTES,
    body: ({ valueType: { maxLength: bytes } }) =>
      omitUndefined({ ...BYTES, pattern: BASE64, maxLength: bytes === undefined ? bytes : 4 * Math.ceil(bytes / 3) }),
    query: {},
  },
  example: () => '',
}

/** Reads base64 with padding (RFC 4648 section 4). Only the canonical text is accepted. */
function createBodyReader({ valueType: { maxLength } }: RuledField): Reader {
  return (raw) => {
    const bytes = typeof raw === 'string' ? Buffer.from(raw, 'base64') : null
    if (bytes === null || bytes.toString('base64') !== raw) return rejectWith(createMessage('base64'))
    const fits = maxLength === undefined || bytes.length <= maxLength
    return fits ? { value: bytes } : rejectWith(createMessage('max-bytes', { max: maxLength }))
  }
}

function decodeBlob(raw: unknown): JsonValue {
  if (raw instanceof Uint8Array) return toBuffer(raw).toString('base64')
  return typeof raw === 'string' ? Buffer.from(raw, 'utf8').toString('base64') : toJson(raw)
}
