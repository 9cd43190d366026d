import type { Sequelize } from 'sequelize'

/** Runs a statement on every new connection, before its first use. */
export function onConnect(sequelize: Sequelize, sql: string): void {
  sequelize.addHook('afterConnect', async (connection) => {
    // The connection is an object of the driver, whose type Sequelize does not declare.
    await new Promise<unknown>((resolve, reject) => {
      const { query } = connection as { query(sql: string, done?: (error: unknown) => void): unknown }
      const result = query.call(connection, sql, (error: unknown) => (error ? reject(error) : resolve(null)))
      if (result instanceof Promise) result.then(resolve, reject)
    })
  })
}
