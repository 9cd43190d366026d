/** An attribute's name as JSON has it: `first_name`, `FIRST_NAME`, `FirstName` and `firstName` are all `firstName`. */
export function camelCase(name: string): string {
  // Most names are spelt so already, and the patterns below are a part of what mounting costs.
  if (/^[a-z][A-Za-z0-9]*$/.test(name)) return name
  const spelt = name === name.toUpperCase() ? name.toLowerCase() : name
  const joined = spelt.replace(/(?<=[^_\-\s])[_\-\s]+(.)/gu, (_, letter: string) => letter.toUpperCase())
  // A leading run of capitals is one word, and its last letter begins the next one: URLPath, urlPath.
  return joined.replace(/^\p{Lu}+(?=$|\p{Lu}\p{Ll}|[^\p{Lu}\p{Ll}])|^\p{Lu}/u, (run) => run.toLowerCase())
}

/** A model's name as types in documents are spelt: `order_line` and `orderLine` are `OrderLine`. */
export function typeName(name: string): string {
  return name
    .split(/[^\p{L}\p{N}]+/u)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}
