/** Path of a form field: `lines.0.quantity` for the place `lines[0].quantity`. */
export function fieldPath(place: string): string {
  return place.replace(/\[(\d+)\]/g, '.$1').replace(/^\./, '')
}
