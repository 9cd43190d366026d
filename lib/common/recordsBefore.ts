import type { RecordBefore, RecordsBefore } from '../../types/rooms.js'
import { getOrCreate } from './getOrCreate.js'

/** The state of records before a write, by resource and key. A write may concern several resources. */
export class RecordsBeforeWrite implements RecordsBefore {
  readonly #records = new Map<object, Map<string, RecordBefore>>()

  /** Forgets the states that an attempt stored before its rollback. */
  clear(): void {
    this.#records.clear()
  }

  note(resource: object, key: string, before: RecordBefore): void {
    const known = getOrCreate(this.#records, resource, () => new Map())
    if (!known.has(key)) known.set(key, before)
  }

  get(resource: object, key: string): RecordBefore | null {
    return this.#records.get(resource)?.get(key) ?? null
  }
}
