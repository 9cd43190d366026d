import type { Sequelize } from 'sequelize'

/** Runs a statement first on every new connection. */
export function onConnect(sequelize: Sequelize, sql: string): void {
  sequelize.addHook('afterConnect', async (connection) => {
    // Connections of the drivers, which Sequelize does not declare.
    await new Promise<unknown>((resolve, reject) => {
      const { query } = connection as { query(sql: string, done?: (error: unknown) => void): unknown }
      const result = query.call(connection, sql, (error: unknown) => (error ? reject(error) : resolve(null)))
      if (result instanceof Promise) result.then(resolve, reject)
    })
  })
}
