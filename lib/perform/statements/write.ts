import type { Writer } from '../executor.js'
import { bulkCreate, create } from './create.js'
import { bulkDelete, remove } from './remove.js'
import { update } from './update.js'

/** Writes by one statement where that gives back what is asked for; the instances it builds are for defaults and validators. */
export const statementWriter: Writer = { create, update, remove, bulkCreate, bulkDelete }
