/** Plots of a cost against what it may depend on, as SVG. */

import { parse, View } from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import type { Line, Summary } from "./statistics.js";

/** One point: the median of its repeats, and their spread. */
export interface PlotPoint extends Summary {
  readonly x: number;
}

interface Axes {
  readonly title: string;
  readonly x: string;
  readonly y: string;
}

export interface Plot extends Axes {
  readonly points: readonly PlotPoint[];
  readonly line: Line;
}

/** The same cost of several programs. */
export interface SeriesPlot extends Axes {
  readonly series: readonly { readonly name: string; readonly points: readonly PlotPoint[] }[];
}

type Layers = Extract<TopLevelSpec, { layer: unknown }>["layer"];

async function svgOf(title: string, layer: Layers): Promise<string> {
  const spec: TopLevelSpec = {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    title,
    width: 480,
    height: 260,
    background: "white",
    layer,
  };
  return `${await new View(parse(compile(spec).spec), { renderer: "none" }).toSVG()}\n`;
}

const placesOf = ({ x, y }: Axes) =>
  ({
    x: { field: "x", type: "quantitative", title: x },
    y: { field: "y", type: "quantitative", title: y },
  }) as const;

/** Points and their line, the text of an SVG file. The same plot gives the same text. */
export async function plotSvg({ points, line, ...axes }: Plot): Promise<string> {
  const ends = [Math.min(...points.map((point) => point.x)), Math.max(...points.map((point) => point.x))];
  const places = placesOf(axes);
  return svgOf(axes.title, [
    {
      data: { values: ends.map((at) => ({ x: at, y: line.intercept + line.slope * at })) },
      mark: { type: "line", color: "#999" },
      encoding: places,
    },
    {
      data: { values: points.map(({ x: at, median, spread }) => ({ x: at, y: median, spread })) },
      mark: "errorbar",
      encoding: { ...places, yError: { field: "spread" } },
    },
    {
      data: { values: points.map(({ x: at, median }) => ({ x: at, y: median })) },
      mark: { type: "point", filled: true },
      encoding: places,
    },
  ]);
}

/** Several programs in one plot, the points of each joined, as {@link plotSvg}. */
export async function seriesSvg({ series, ...axes }: SeriesPlot): Promise<string> {
  const values = series.flatMap(({ name, points }) =>
    points.map(({ x, median, spread }) => ({ program: name, x, y: median, spread })),
  );
  const encoding = {
    ...placesOf(axes),
    color: { field: "program", type: "nominal", title: null, sort: series.map(({ name }) => name) },
  } as const;
  return svgOf(axes.title, [
    { data: { values }, mark: { type: "line", point: true }, encoding },
    { data: { values }, mark: "errorbar", encoding: { ...encoding, yError: { field: "spread" } } },
  ]);
}
