import type { RecordBefore, RecordsBefore } from '../../types/rooms.js'

/** Records as they were before one write, which may be of several resources. */
export class NotedRecords implements RecordsBefore {
  readonly #records = new Map<object, Map<string, RecordBefore>>()

  /** Forgets what an attempt noted that was rolled back. */
  clear(): void {
    this.#records.clear()
  }

  note(resource: object, key: string, before: RecordBefore): void {
    const known = this.#records.get(resource) ?? new Map<string, RecordBefore>()
    this.#records.set(resource, known)
    if (!known.has(key)) known.set(key, before)
  }

  of(resource: object, key: string): RecordBefore | null {
    return this.#records.get(resource)?.get(key) ?? null
  }
}
