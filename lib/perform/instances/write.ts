import type { Writer } from '../executor.js'
import { bulkDelete } from './bulkDelete.js'
import { bulkCreate, create } from './create.js'
import { remove } from './remove.js'
import { update } from './update.js'

/** Writes by `save`, `restore` and `destroy`, in a transaction, with the hooks of the model and of the operation. */
export const instanceWriter: Writer = { create, update, remove, bulkCreate, bulkDelete }
