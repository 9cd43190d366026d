// Attributes that this package declares on models.

import { DataTypes, type ModelAttributeColumnOptions } from 'sequelize'
import type { WantedKind } from '../../types/behaviour.js'

/** How an attribute that a behaviour wants is declared where the model has none. */
export const DECLARATIONS: Readonly<Record<WantedKind, ModelAttributeColumnOptions>> = {
  mark: { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: false },
  version: { type: DataTypes.BIGINT, allowNull: false, defaultValue: 0 },
  instant: { type: DataTypes.DATE(3) },
  name: { type: DataTypes.STRING },
}
