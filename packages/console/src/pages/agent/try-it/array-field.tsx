import { ActionIcon, Button, Fieldset, Group, Input, Stack, Text } from '@mantine/core'
import type { JsonValue } from '@switchboard/protocol/json'
import type { ReactNode } from 'react'
import { strings } from '../../../strings.js'
import type { Field } from '../schema/field.js'
import { toField } from '../schema/field.js'
import { initialValue } from '../schema/initial-value.js'
import { type FieldProps, useForm } from './form-context.js'
import { pointerTo } from './issues.js'

const { tryIt: words } = strings

/** Items that are shown as fields; the others are kept, and can be edited as JSON. */
const MAX_SHOWN = 100

/** A list whose items can be added and removed. */
export function ArrayField(props: FieldProps<Extract<Field, { kind: 'array' }>>): ReactNode {
  const { field, pointer, shared, isRequired, value, onChange } = props
  const { root, Place } = useForm()
  const items = Array.isArray(value) ? value : []
  const replace = (next: JsonValue[]): void => onChange(next.length === 0 && !isRequired ? undefined : next)
  return (
    <Fieldset legend={shared.label + (isRequired ? ' *' : '')} id={shared.id} tabIndex={-1}>
      <Stack gap="sm">
        {shared.description && (
          <Text size="xs" c="dimmed">
            {shared.description}
          </Text>
        )}
        {items.slice(0, MAX_SHOWN).map((item, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: items have no identity but their position.
          <Group key={index} align="flex-start" wrap="nowrap" gap="xs">
            <div className="grow">
              <Place
                place={field.items}
                pointer={pointerTo(pointer, index)}
                label={words.item(shared.label, index + 1)}
                isRequired
                value={item}
                onChange={(next) => replace(items.with(index, next ?? null))}
              />
            </div>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={words.remove(words.item(shared.label, index + 1))}
              onClick={() => replace(items.toSpliced(index, 1))}
            >
              ✕
            </ActionIcon>
          </Group>
        ))}
        {shared.error && <Input.Error>{shared.error}</Input.Error>}
        {items.length < field.max && (
          <Group>
            <Button
              variant="default"
              size="xs"
              onClick={() =>
                onChange([...items, initialValue(field.items, root) ?? emptyOf(toField(field.items, root))])
              }
            >
              {words.addItem(shared.label)}
            </Button>
          </Group>
        )}
      </Stack>
    </Fieldset>
  )
}

/** What a new item is until something is entered. */
function emptyOf({ kind }: Field): JsonValue {
  return kind === 'text' || kind === 'file' ? '' : null
}
