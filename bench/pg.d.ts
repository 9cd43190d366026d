// What the benchmark uses of the driver, which brings no types.
declare module 'pg' {
  export class Pool {
    constructor(options: object)
    query(query: { readonly name?: string; readonly text: string; readonly values: readonly unknown[] }): Promise<{
      readonly rows: readonly Readonly<Record<string, unknown>>[]
      readonly rowCount: number | null
    }>
  }
  const driver: { readonly Pool: typeof Pool }
  export default driver
}
