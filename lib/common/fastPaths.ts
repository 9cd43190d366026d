// The switch for all code that exists only for speed. The first line of each such file says "Kept for speed".

/**
 * Whether code that exists only for speed is used. Tests disable it by the environment variable `CRUD_SPEED=off`.
 * Without such code, statements and syntax trees are not cached, instances are loaded and saved, and Sequelize sends
 * every statement.
 */
export const isFast: boolean = process.env.CRUD_SPEED !== 'off'
