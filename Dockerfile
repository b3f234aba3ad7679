# Two stages: the first runs the README's own set-up command, the second keeps the tool alone.
FROM debian:bookworm AS build
COPY . /src
WORKDIR /src
RUN apt-get update && apt-get install -y --no-install-recommends g++ cmake make libcli11-dev nlohmann-json3-dev libyaml-cpp-dev libspdlog-dev libfmt-dev libhwy-dev libmimalloc-dev libopenblas-pthread-dev && cmake --workflow --preset release && for c in plan show run; do build/release/shard-plan $c guide_mlp flax_guide; done
RUN cmake --install build/release --prefix /opt/shard-plan --strip

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends libyaml-cpp0.7 libspdlog1.10 libfmt9 libmimalloc2.0 libopenblas0-pthread && rm -rf /var/lib/apt/lists/* && useradd --create-home planner
COPY --from=build /opt/shard-plan /usr/local
USER planner
WORKDIR /home/planner
ENTRYPOINT ["shard-plan"]
CMD ["--help"]
