// SPDX-License-Identifier: MIT
// backdrop.vert - one triangle over the whole picture, as far away as can be.
#version 460

void main()
{
    gl_Position = vec4(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0, 0.0, 1.0);
}
