import test from 'ava'
import { DIALECTS, dialectNamed } from '../../../lib/perform/dialect/index.js'

test('every database of Sequelize’s that the package knows has a frozen dialect, and no other has', (t) => {
  t.deepEqual(DIALECTS, ['sqlite', 'mysql', 'mariadb', 'postgres'])
  for (const name of DIALECTS) t.true(Object.isFrozen(dialectNamed(name)))
  for (const name of ['mssql', 'oracle', 'snowflake', 'db2', '', 'constructor']) t.is(dialectNamed(name), undefined)
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
    t.is(dialectNamed('mariadb', version)?.returnsInserted, returns, String(version))
    t.is(dialectNamed('mysql', version)?.returnsInserted, false)
  }
})
