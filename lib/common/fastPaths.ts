// The switch of all code that exists for speed only. Such files say so in their first line.

/**
 * False only in tests, by `CRUD_SPEED=off`. Then statements and syntax trees are not cached, instances are loaded and
 * saved, and Sequelize sends every statement.
 */
export const isFast: boolean = process.env.CRUD_SPEED !== 'off'
