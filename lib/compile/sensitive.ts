import type { Field } from '../../types/field.js'
import type { CrudOptions } from '../../types/options.js'
import { isSecretName } from '../common/secretNames.js'

/** Warns of response fields with names of secrets, unless an option mentions them. */
export function warnOfSensitive(model: string, fields: readonly Field[], options: CrudOptions): void {
  const named = new Set([
    ...Object.keys(options.fields ?? {}),
    ...Object.keys(options.mask ?? {}),
    ...[options.keyProperty ?? []].flat(),
  ])
  const isShown = ({ name, targets }: Field): boolean =>
    (targets.has('response') || targets.has('list')) && !named.has(name) && isSecretName(name)
  const names = fields.filter(isShown).map(({ name }) => name)
  const [first] = names
  if (first === undefined) return
  const which = names.map((name) => `"${name}"`).join(', ')
  process.emitWarning(
    `${model}: responses contain fields with names of secrets: ${which}. Exclude such a field by fields: { ${first}: { exclude: true } }, restrict it by the option mask, or ` +
      `confirm by fields: { ${first}: {} } that clients may read it.`,
    { code: 'CRUD_SENSITIVE_FIELD' },
  )
}
