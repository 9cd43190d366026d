// Attributes that this package declares on models.

import { DataTypes, type ModelAttributeColumnOptions } from 'sequelize'
import type { ManagedAttributeKind } from '../../types/behaviour.js'

/** Definitions of attributes that a behaviour needs and the model lacks. */
export const DECLARATIONS: Readonly<Record<ManagedAttributeKind, ModelAttributeColumnOptions>> = {
  flag: { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: false },
  version: { type: DataTypes.BIGINT, allowNull: false, defaultValue: 0 },
  dateTime: { type: DataTypes.DATE(3) },
  text: { type: DataTypes.STRING },
}
