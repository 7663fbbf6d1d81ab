import { Button, FileButton, Group, Input, Text } from '@mantine/core'
import { toDisplayText } from '@switchboard/client/discovery'
import { type ReactNode, useState } from 'react'
import { strings } from '../../../strings.js'
import type { Field } from '../schema/field.js'
import type { FieldProps } from './form-context.js'

const { tryIt: words } = strings

/** Bytes of a file that fit into an input of 8 MiB as base64, with room for other members. */
const MAX_BYTES = 5 * 1024 * 1024

/** A file that becomes a member of the input, as base64 or as a data URL. */
export function FileField(props: FieldProps<Extract<Field, { kind: 'file' }>>): ReactNode {
  const { field, shared, value, onChange } = props
  const [chosen, setChosen] = useState<{ name: string; for: string }>()
  const [problem, setProblem] = useState<string>()
  const take = async (file: File | null): Promise<void> => {
    if (!file) return
    if (file.size > MAX_BYTES) return setProblem(words.fileTooLarge(MAX_BYTES / 1024 / 1024))
    const url = await readAsDataUrl(file)
    const text = field.asDataUrl ? url : url.slice(url.indexOf(',') + 1)
    setProblem(undefined)
    setChosen({ name: file.name, for: text })
    onChange(text)
  }
  const error = problem ?? shared.error
  const label = `${words.chooseFile}: ${shared.label}`
  return (
    <Input.Wrapper
      label={shared.label}
      description={shared.description}
      error={error}
      withAsterisk={shared.withAsterisk}
      labelElement="div"
    >
      <Group gap="xs" mt={4}>
        <FileButton onChange={take} {...(field.accept && { accept: field.accept })}>
          {(button) => (
            <Button {...button} id={shared.id} variant="default" size="xs" aria-label={label}>
              {words.chooseFile}
            </Button>
          )}
        </FileButton>
        {typeof value === 'string' && value !== '' && (
          <>
            <Text size="sm">{chosen?.for === value ? toDisplayText(chosen.name) : words.characters(value.length)}</Text>
            <Button variant="subtle" color="gray" size="xs" onClick={() => onChange(undefined)}>
              {words.remove(shared.label)}
            </Button>
          </>
        )}
      </Group>
    </Input.Wrapper>
  )
}

const readAsDataUrl = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })
