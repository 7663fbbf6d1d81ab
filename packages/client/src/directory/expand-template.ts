/** Values for a template; undefined ones are omitted. */
export type TemplateValues = Readonly<Record<string, string | number | boolean | undefined>>

/**
 * Expands the expressions of RFC 6570 that directories and agent URIs use: `{name}`, `{?a,b}` and `{&a,b}`.
 *
 * @example
 * expandTemplate('/ad/l{?cap_name,page}', { cap_name: 'purge*' }) // '/ad/l?cap_name=purge%2A'
 */
export function expandTemplate(template: string, values: TemplateValues): string {
  return template.replaceAll(/\{([?&]?)([\w.,]+)\}/g, (_all, operator: string, names: string) => {
    const given = names.split(',').flatMap((name) => {
      const value = Object.hasOwn(values, name) ? values[name] : undefined
      return value === undefined ? [] : [{ name, text: encode(String(value)) }]
    })
    if (operator === '') return given.map(({ text }) => text).join(',')
    return given.length === 0 ? '' : operator + given.map(({ name, text }) => `${name}=${text}`).join('&')
  })
}

/** Encodes all but unreserved characters (RFC 6570 §3.2.1), unlike encodeURIComponent. */
const encode = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  )
