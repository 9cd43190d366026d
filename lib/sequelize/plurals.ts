import { type Model, type ModelStatic, Utils } from 'sequelize'

/** Returns the plural of a model's name. A plural that the model defines takes precedence. */
export function pluralOf({ name, options }: ModelStatic<Model>): string {
  return options.name?.plural ?? pluralize(name)
}

export function singularize(word: string): string {
  return Utils.singularize(word)
}

export function pluralize(word: string): string {
  return Utils.pluralize(word)
}
