import type { ValueType } from '../../types/field.js'
import { NO_REQUEST } from '../common/noRequest.js'
import { type OnError, reportError } from '../common/report.js'

/** Reports a stored value that responses show as null, once per attribute. The value itself is not logged. */
export function createUndecodableReporter(
  model: string,
  onError: OnError,
): (name: string, valueType: ValueType) => void {
  const warned = new Set<string>()
  return (name, { type }) => {
    if (warned.has(name)) return
    warned.add(name)
    const message = `${model}.${name}: a stored value of type ${type} cannot be shown in JSON, so responses have null instead.`
    reportError(new RangeError(message), NO_REQUEST, onError)
  }
}
