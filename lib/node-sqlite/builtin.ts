/**
 * The parts of `node:sqlite` that the driver uses. The oldest Node.js types that this package supports do not declare
 * them.
 */

/** Values that SQLite stores. */
export type SqlValue = null | number | bigint | string | ArrayBufferView

/** A row from `node:sqlite`: an object without a prototype. */
export type FoundRow = { readonly [column: string]: SqlValue }

/**
 * Arguments of a statement: an object of named parameters, if the statement has any, followed by the positional
 * parameters.
 */
export type Arguments = readonly (SqlValue | { readonly [name: string]: SqlValue })[]

export interface BuiltinStatement {
  all(...values: Arguments): FoundRow[]
  run(...values: Arguments): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint }
  setReadBigInts(isEnabled: boolean): void
  setAllowBareNamedParameters(isEnabled: boolean): void
}

export interface BuiltinDatabase {
  prepare(sql: string): BuiltinStatement
  exec(sql: string): void
  loadExtension(path: string): void
  close(): void
}

/** Opens a database. @throws Error if this Node.js has no `node:sqlite` */
export function openBuiltin(path: string, options: { readonly [option: string]: boolean } = {}): BuiltinDatabase {
  const module = process.getBuiltinModule?.('node:sqlite')
  if (hasDatabase(module)) return new module.DatabaseSync(path, options)
  throw new Error('sequelize-crud-router/node-sqlite needs Node 22.13 or later: this version has no node:sqlite.')
}

function hasDatabase(
  module: object | undefined,
): module is { readonly DatabaseSync: new (path: string, options: object) => BuiltinDatabase } {
  return module !== undefined && 'DatabaseSync' in module
}
