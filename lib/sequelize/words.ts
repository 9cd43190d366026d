import { type Model, type ModelStatic, Utils } from 'sequelize'

/** The plural of a model's name, its own word for it where it has one. */
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
