/** Creates an error for a state that only a mistake in this package can cause. `what` is a clause without a full stop. */
export function internalError(what: string): TypeError {
  return new TypeError(`Internal error of sequelize-crud-router: ${what}. Please report it with the stack trace.`)
}
