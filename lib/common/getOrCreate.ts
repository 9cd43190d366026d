/** The methods of a map or a cache that `getOrCreate` needs. */
interface Entries<K, V> {
  get(key: K): V | undefined
  set(key: K, value: V): unknown
}

/** Returns the value of a key. Creates and stores a missing value. */
export function getOrCreate<K, V>(entries: Entries<K, V>, key: K, create: () => NoInfer<V>): V {
  const known = entries.get(key)
  if (known !== undefined) return known
  const created = create()
  entries.set(key, created)
  return created
}
