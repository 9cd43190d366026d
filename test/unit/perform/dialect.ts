import test from 'ava'
import { DataTypes, Sequelize } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { DIALECTS, findDialect } from '../../../lib/sequelize/dialect/index.js'

test('every database of Sequelize’s that the package knows has a frozen dialect, and no other has', (t) => {
  t.deepEqual(Object.keys(DIALECTS), ['sqlite', 'mysql', 'mariadb', 'postgres'])
  for (const name of Object.keys(DIALECTS)) t.true(Object.isFrozen(findDialect(name)))
  for (const name of ['mssql', 'oracle', 'snowflake', 'db2', '', 'constructor']) t.is(findDialect(name), undefined)
})

test('an INSERT returns its row from MariaDB 10.5 on, once the version is known', (t) => {
  for (const [version, returns] of [
    [undefined, false],
    [0, false],
    ['nonsense', false],
    ['5.7.44', false],
    ['8.4.0', false],
    ['9.1.0', false],
    ['10.4.34', false],
    ['10.5.0', true],
    ['10.11.19', true],
    ['11.4.2', true],
    ['12.0.1', true],
  ] as const) {
    t.is(findDialect('mariadb', version)?.returnsInserted, returns, String(version))
    t.is(findDialect('mysql', version)?.returnsInserted, false)
  }
})

test('a connection that is not in UTF-8 is refused at mount, whichever option of whichever server says so', (t) => {
  // Sequelize does not declare the driver's options of a single replica, and hands them on.
  const mount = (options: object): unknown => {
    const sequelize = new Sequelize({ dialect: 'mysql', logging: false, ...options })
    return crudRouter(sequelize.define('Note', { text: DataTypes.STRING }))
  }
  const latin: readonly object[] = [{ charset: 'latin1' }, { collation: 'latin1_swedish_ci' }, { charset: 'gbk' }]
  const utf: readonly object[] = [{}, { charset: 'utf8mb4' }, { collation: 'utf8mb4_bin' }, { charset: 'UTF8_BIN' }]
  for (const dialectOptions of latin) {
    const narrow = { dialectOptions }
    for (const options of [
      narrow,
      { replication: { write: narrow, read: [] } },
      { replication: { write: {}, read: [narrow] } },
      { replication: { write: {}, read: [{}, narrow] } },
    ]) {
      t.throws(() => mount(options), { code: 'UNSAFE_CONNECTION' }, JSON.stringify(options))
    }
  }
  for (const dialectOptions of utf) {
    const wide = { dialectOptions }
    for (const options of [wide, { replication: { write: wide, read: [{}, wide] } }]) {
      t.notThrows(() => mount(options), JSON.stringify(options))
    }
  }
})
