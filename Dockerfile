# SPDX-License-Identifier: Apache-2.0
# The static program and nothing else: docker build --build-arg PROGRAM=moeplan-0.1.0-linux-x86_64/bin/moeplan .
FROM scratch
ARG PROGRAM
COPY ${PROGRAM} /moeplan
WORKDIR /src
ENTRYPOINT ["/moeplan"]
