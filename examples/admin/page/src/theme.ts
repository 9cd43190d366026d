import { defaultLightTheme } from 'react-admin'

/** The bar's white letters stand out on it. */
export const lightTheme = {
  ...defaultLightTheme,
  palette: { ...defaultLightTheme.palette, secondary: { main: '#0d47a1' } },
}
