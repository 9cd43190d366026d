// The driver pg has no types. This file declares the types that the benchmark uses.
declare module 'pg' {
  interface Connection {
    query(query: { readonly name?: string; readonly text: string; readonly values: readonly unknown[] }): Promise<{
      readonly rows: readonly Readonly<Record<string, unknown>>[]
      readonly rowCount: number | null
    }>
  }
  export class Pool implements Connection {
    constructor(options: object)
    query: Connection['query']
    connect(): Promise<Connection & { release(): void }>
  }
  const driver: { readonly Pool: typeof Pool }
  export default driver
}
