import type { Model, ModelStatic } from 'sequelize'
import type { Behaviour } from '../../types/behaviour.js'
import { softDelete } from './softDelete.js'

/** What a behaviour may know of a model before its resource exists. */
export interface BehaviourContext {
  readonly model: ModelStatic<Model>
  readonly timestamps: { readonly deletedAt?: string }
}

/** The ordered table: each row looks at the options and the model, and gives its behaviour or null. */
const TABLE: readonly ((context: BehaviourContext) => Behaviour | null)[] = [
  ({ model, timestamps }) => softDelete(model, timestamps.deletedAt),
]

export function behavioursFor(context: BehaviourContext): readonly Behaviour[] {
  return TABLE.map((row) => row(context)).filter((behaviour) => behaviour !== null)
}
