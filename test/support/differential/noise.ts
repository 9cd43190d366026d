// Adds records (noise) to a list while a test reads its pages. Each noise record copies values of a row, so that it
// sorts next to the row in any order.

import { type Model, type ModelStatic, Op } from 'sequelize'
import type { Stage } from '../stage.js'
import { below, type Random } from './random.js'
import { type Column, choosesKeys, LINKS, TABLES, type Table, type TableName, type Value } from './schema.js'
import { Noise } from './walk.js'
import { keyOf, type Row, valueIn, type World } from './world.js'

type Values = Record<string, unknown>

export async function noiseOf(served: Stage<object>, world: World): Promise<ReadonlyMap<TableName, Noise>> {
  const noises = new Map<TableName, Noise>()
  // Noise records that require an owner refer to this permanent noise record.
  let owner = 0
  for (const table of TABLES) {
    const model: ModelStatic<Model> = served.sequelize.model(table.name)
    const copies = world.all(table.name).map((row) => copyOf(table, row, owner))
    if (table.name === 'Item') {
      await model.create({ ...copies[0] })
      owner = table.size + 1
    }
    let made = 0
    const recordOf = (random: Random): Values => {
      made += 1
      const copy = copies[below(random, copies.length)]
      return choosesKeys(table.name) ? { ...copy, id: keyAt(table, below(random, table.size), made) } : { ...copy }
    }
    const isNoise = choosesKeys(table.name)
      ? { [Op.notIn]: world.all(table.name).map((row) => String(keyOf(row))) }
      : { [Op.gt]: table.name === 'Item' ? owner : table.size }
    noises.set(table.name, new Noise(model, recordOf, { id: isNoise }))
  }
  return noises
}

/** Copies the values of a row, except its key and its foreign keys. */
function copyOf({ name: from, key, columns, softDelete }: Table, row: Row, owner: number): Values {
  const copy: Values = softDelete ? { isDeleted: row.deleted, deletedAt: row.deleted ? new Date() : null } : {}
  for (const column of columns) {
    const link = LINKS.find((each) => each.from === from && each.key === column.name)
    if (link !== undefined) copy[column.name] = link.required ? owner : null
    else if (column !== key) copy[column.name] = toModelValue(column, valueIn(row, column))
  }
  return copy
}

function toModelValue({ kind }: Column, value: Value | null): unknown {
  if (kind === 'datetime' && value !== null) return new Date(Number(value))
  return typeof value === 'bigint' ? String(value) : value
}

/** A key between the key of a row and the key of the next row, if there is a gap. */
function keyAt({ name }: Table, index: number, made: number): string {
  const digits = String(index + 1).padStart(4, '0')
  if (name === 'Tag') return `0000${digits}-0000-4000-8000-f${String(made).padStart(11, '0')}`
  if (name === 'Mark') return `mark ${digits} ${made}`
  return String(2n ** 53n + BigInt(made % 2 === 0 ? 1000 + made : -1000 - made))
}
