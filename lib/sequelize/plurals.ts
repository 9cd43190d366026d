import { type Model, type ModelStatic, Utils } from 'sequelize'

/** Plural of a model's name. The model's own plural takes precedence. */
export function pluralOf({ name, options }: ModelStatic<Model>): string {
  return options.name?.plural ?? pluralize(name)
}

/** The singular of an English word. */
export function singularize(word: string): string {
  return Utils.singularize(word)
}

/** The plural of an English word. */
export function pluralize(word: string): string {
  return Utils.pluralize(word)
}
