import { defaultLightTheme } from 'react-admin'

/** The colour of the bar has enough contrast to its white letters. */
export const lightTheme = {
  ...defaultLightTheme,
  palette: { ...defaultLightTheme.palette, secondary: { main: '#0d47a1' } },
}
