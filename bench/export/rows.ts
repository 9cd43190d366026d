// Table of the export benchmark. Rows repeat after some hundreds, so that a file of any length can be verified without
// a second copy of the data.

import { DataTypes, type Model, type ModelStatic, type Options, Sequelize } from 'sequelize'

export interface Content {
  readonly name: string | null
  readonly level: number | null
  readonly price: string
  readonly active: boolean
  readonly at: string
}

const NAMES: readonly (string | null)[] = [
  ...['plain', '', null, 'a,b', 'say "so"', 'two\r\nlines', ' blank ', '漢字 😀', "it's", '-', 'x=1', '\\N', ';tab\t'],
  'of some length, as names of things are that somebody has described in a sentence or two',
]

/** Number of distinct rows. */
export const PERIOD = 500

/** Content of the row at a position in key order. */
export function contentAt(place: number): Content {
  const index = place % PERIOD
  return {
    name: NAMES[index % NAMES.length] ?? null,
    level: index % 7 === 0 ? null : index - 200,
    price: `${index % 2 === 0 ? '' : '-'}${index}.${String(index % 100).padStart(2, '0')}25`,
    active: index % 3 === 0,
    at: new Date(Date.UTC(2026, 0, 1, 0, 0, index, 123)).toISOString(),
  }
}

export function defineRecord(sequelize: Sequelize): ModelStatic<Model> {
  return sequelize.define(
    'Record',
    {
      name: DataTypes.STRING(100),
      level: DataTypes.INTEGER,
      price: DataTypes.DECIMAL(20, 4),
      active: DataTypes.BOOLEAN,
      at: DataTypes.DATE(3),
    },
    { tableName: 'records', timestamps: false },
  )
}

/**
 * Creates the table with a number of rows. Only the first rows are sent. The database copies them until the table is
 * full.
 */
export async function fill(options: Options, rows: number): Promise<void> {
  const sequelize = new Sequelize({ ...options, logging: false })
  try {
    const Record = defineRecord(sequelize)
    await sequelize.sync()
    const first = Array.from({ length: Math.min(rows, PERIOD) }, (_, place) => contentAt(place))
    await Record.bulkCreate(first as never)
    for (let there = first.length; there < rows; ) {
      const more = Math.min(there, rows - there)
      const columns = '"name", "level", "price", "active", "at"'.replaceAll('"', isMysql(options) ? '`' : '"')
      await sequelize.query(`INSERT INTO records (${columns}) SELECT ${columns} FROM records ORDER BY id LIMIT ${more}`)
      there += more
    }
  } finally {
    await sequelize.close()
  }
}

function isMysql({ dialect }: Options): boolean {
  return dialect === 'mysql' || dialect === 'mariadb'
}
