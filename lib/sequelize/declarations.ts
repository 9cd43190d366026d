// Attributes that this package declares on models.

import { DataTypes, type ModelAttributeColumnOptions } from 'sequelize'
import type { ManagedAttributeKind } from '../../types/behaviour.js'

/** Definitions of attributes that a behaviour needs and the model lacks. */
export const DECLARATIONS: Readonly<Record<ManagedAttributeKind, ModelAttributeColumnOptions>> = {
  mark: { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: false },
  version: { type: DataTypes.BIGINT, allowNull: false, defaultValue: 0 },
  instant: { type: DataTypes.DATE(3) },
  name: { type: DataTypes.STRING },
}
