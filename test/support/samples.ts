import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter } from '../../lib/index.js'
import type { CrudOptions } from '../../types/options.js'
import { openStage, type Stage } from './stage.js'

/** A table with one column per field type. */
export interface Samples {
  readonly Sample: ModelStatic<Model>
  /** A second model on the table, with a find hook, so that reads use `findAll`. */
  readonly Hooked: ModelStatic<Model>
}

/** Initial rows. Rows 1, 2 and 3 ascend in every sortable column. Row 4 is null wherever null is allowed. */
const ROWS: readonly object[] = [
  {
    required: 'one',
    text: 'alpha',
    note: 'apple',
    whole: -5,
    small: -32768,
    big: '-9007199254740993',
    amount: '-0.10',
    double: -0.1,
    single: 0.1,
    real: 0.1,
    flag: true,
    at: '2024-02-28T23:59:59.999Z',
    moment: '2024-02-28T10:00:00.000Z',
    day: '2024-02-28',
    clock: '00:00:00',
    code: '0b1c2d3e-0000-4000-8000-000000000001',
    rank: 'High',
    data: { a: 1 },
    bytes: Buffer.from('one'),
  },
  {
    required: 'two',
    text: 'bravo',
    note: 'banana',
    whole: 0,
    small: 0,
    big: '9007199254740992',
    amount: '0.30',
    double: 0.3,
    single: 0.3,
    real: 0.3,
    flag: false,
    at: '2024-02-29T00:00:00.000Z',
    moment: '2024-02-29T10:00:00.000Z',
    day: '2024-02-29',
    clock: '09:30:00',
    code: '0b1c2d3e-0000-4000-8000-00000000000a',
    rank: 'Low',
    data: 'two',
    bytes: Buffer.from('two'),
  },
  {
    required: 'three',
    text: 'charlie',
    note: 'cherry',
    whole: 2147483647,
    small: 32767,
    big: '9007199254740993',
    amount: '1234567890.12',
    double: 1e100,
    single: 1.5,
    real: 1.5,
    flag: true,
    at: '2024-02-29T23:59:59.999Z',
    moment: '2024-03-01T10:00:00.000Z',
    day: '2024-03-01',
    clock: '23:59:59',
    code: 'ffffffff-0000-4000-8000-000000000003',
    rank: 'mid',
    data: [3],
    bytes: Buffer.from('three'),
  },
  { required: 'four' },
]

export async function serveSamples(options: CrudOptions = {}): Promise<Stage<Samples>> {
  const stage = await openStage(({ sequelize }, app) => {
    const attributes = {
      required: { type: DataTypes.STRING, allowNull: false },
      text: DataTypes.STRING(100),
      note: DataTypes.TEXT,
      whole: DataTypes.INTEGER,
      small: DataTypes.SMALLINT,
      big: DataTypes.BIGINT,
      amount: DataTypes.DECIMAL(12, 2),
      double: DataTypes.DOUBLE,
      single: DataTypes.FLOAT,
      real: DataTypes.REAL,
      flag: DataTypes.BOOLEAN,
      // MySQL stores milliseconds only in columns that declare them.
      at: DataTypes.DATE(3),
      moment: DataTypes.DATE,
      day: DataTypes.DATEONLY,
      clock: DataTypes.TIME,
      code: DataTypes.UUID,
      rank: DataTypes.ENUM('Low', 'mid', 'High'),
      data: DataTypes.JSON,
      bytes: DataTypes.BLOB,
    }
    const table = { tableName: 'Samples', timestamps: false }
    const Sample = sequelize.define('Sample', { ...attributes }, table)
    const Hooked = sequelize.define('Hooked', { ...attributes }, { ...table, hooks: { beforeFind: () => {} } })
    app.use(crudRouter(Sample, options))
    app.use(crudRouter(Hooked, { ...options, route: 'api/hooked' }))
    return { Sample, Hooked }
  })
  const { Sample } = stage
  for (const row of ROWS) await Sample.create({ ...row })
  return stage
}
