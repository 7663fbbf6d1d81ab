import { Box, useComputedColorScheme } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { type ReactNode, useEffect, useRef } from 'react'
import uPlot from 'uplot'

/** A line of a chart; `null` where there is no value. */
export interface Line {
  readonly label: string
  readonly values: readonly (number | null)[]
}

export interface LineChartProps {
  /** Seconds since 1970. */
  readonly times: readonly number[]
  readonly lines: readonly Line[]
}

const HEIGHT = 200
/** Lines differ in colour and in their dashes, for those who cannot tell the colours apart. */
const COLORS = ['cyan', 'orange', 'grape', 'green', 'red']
const DASHES = [[], [6, 4], [2, 3], [10, 3, 2, 3], [4, 2]]

/** Seconds between labels of the time axis; the history has no shorter steps than a minute. */
const STEPS = [60, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200]

/** A chart over time. It is hidden from screen readers: the page has the same numbers as a table. */
export function LineChart({ times, lines }: LineChartProps): ReactNode {
  const scheme = useComputedColorScheme('light')
  const { ref: box, width } = useElementSize()
  const canvas = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot>(undefined)
  const labels = JSON.stringify(lines.map(({ label }) => label))
  const data: uPlot.AlignedData = [[...times], ...lines.map(({ values }) => [...values])]

  // biome-ignore lint/correctness/useExhaustiveDependencies: new data and sizes are given to the chart that there is.
  useEffect(() => {
    if (!canvas.current || width === 0) return
    chart.current = new uPlot({ width, height: HEIGHT, ...optionsOf(JSON.parse(labels), scheme) }, data, canvas.current)
    return () => {
      chart.current?.destroy()
      chart.current = undefined
    }
  }, [labels, scheme, width === 0])
  useEffect(() => {
    if (width > 0) chart.current?.setSize({ width, height: HEIGHT })
  }, [width])
  useEffect(() => chart.current?.setData(data))

  return (
    <Box ref={box} aria-hidden="true" className="chart">
      <div ref={canvas} />
    </Box>
  )
}

function optionsOf(labels: readonly string[], scheme: 'light' | 'dark'): Omit<uPlot.Options, 'width' | 'height'> {
  const style = getComputedStyle(document.documentElement)
  const color = (name: string): string => style.getPropertyValue(`--mantine-color-${name}`).trim()
  const shade = scheme === 'dark' ? 4 : 8
  const axis = { stroke: color('text'), grid: { stroke: color('default-border'), width: 1 }, ticks: { show: false } }
  return {
    padding: [8, 32, 0, 0],
    cursor: { y: false },
    scales: { y: { range: { min: { pad: 0, soft: 0, mode: 1 }, max: { pad: 0.1, soft: 1, mode: 1 } } } },
    axes: [
      { ...axis, size: 30, incrs: STEPS, values: (_chart, splits) => splits.map(toClock) },
      { ...axis, size: 52, values: (_chart, splits) => splits.map((value) => value.toLocaleString()) },
    ],
    series: [
      { value: (_chart, time) => (time === null ? '–' : toClock(time)) },
      ...labels.map((label, i) => ({
        label,
        stroke: color(`${COLORS[i % COLORS.length]}-${shade}`),
        dash: DASHES[i % DASHES.length] ?? [],
        width: 2,
      })),
    ],
  }
}

const toClock = (seconds: number): string =>
  new Date(seconds * 1000).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' })
