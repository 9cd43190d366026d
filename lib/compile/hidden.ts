import type { ValueType } from '../../types/field.js'
import { NO_REQUEST } from '../common/noRequest.js'
import { type OnError, report } from '../common/report.js'

/** Reports a stored value that answers show as null, once for each attribute. The value itself is in no log. */
export function hiddenTold(model: string, onError: OnError): (name: string, valueType: ValueType) => void {
  const told = new Set<string>()
  return (name, { type }) => {
    if (told.has(name)) return
    told.add(name)
    const message = `${model}.${name}: a stored value is no ${type} that JSON has, and answers show null in its place.`
    report(new RangeError(message), NO_REQUEST, onError)
  }
}
